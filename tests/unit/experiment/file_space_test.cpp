// Files of an experiment where the file system reserves no space, and where descriptors are few.
#include "libcollector/record/file_space.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <optional>
#include <thread>
#include <vector>

#include "tests/unit/experiment/written.h"

namespace gnomon::test {
namespace {

using namespace collector;

// ramfs has no fallocate(2).
class Ram {
 public:
  Ram() : mounted_(mount("none", folder_.path().c_str(), "ramfs", 0, "") == 0) {}
  ~Ram() {
    if (mounted_) umount(folder_.path().c_str());
  }
  Ram(const Ram&) = delete;
  Ram& operator=(const Ram&) = delete;
  bool is_mounted() const { return mounted_; }
  const std::string& path() const { return folder_.path(); }

 private:
  Directory folder_;
  bool mounted_;
};

TEST(FileSpace, TwoThreadsThatReserveTheSameRangeDoNotClearIt) {
  const Ram ram;
  if (!ram.is_mounted()) GTEST_SKIP() << "no right to mount a file system";
  constexpr std::uint64_t kBytes = 64UL * 1024;
  ExperimentDirectory directory;
  ASSERT_EQ(directory.open_path(ram.path().c_str()), 0);
  const File file{directory, "stacks"};
  const Range first = map_range(file, Create::must_be_new, 0, kBytes);
  ASSERT_TRUE(first.at);
  std::memset(first.at, 7, kBytes);
  const Range second = map_range(file, Create::if_missing, 0, kBytes);
  ASSERT_TRUE(second.at);
  const auto* bytes = static_cast<const char*>(second.at);
  EXPECT_TRUE(bytes[0] == 7 && bytes[kBytes - 1] == 7);
  const Range beyond = map_range(file, Create::if_missing, 2 * kBytes, kBytes);
  ASSERT_TRUE(beyond.at);
  EXPECT_TRUE(bytes[kBytes - 1] == 7 && static_cast<const char*>(beyond.at)[kBytes - 1] == 0);
  unmap_range(first.at, kBytes);
  unmap_range(second.at, kBytes);
  unmap_range(beyond.at, kBytes);
}

// All descriptors that the process may have.
class AllDescriptors {
 public:
  AllDescriptors() {
    getrlimit(RLIMIT_NOFILE, &before_);
    const rlimit few{64, before_.rlim_max};
    setrlimit(RLIMIT_NOFILE, &few);
    for (int each; (each = open("/dev/null", O_RDONLY)) >= 0;) taken_.push_back(each);
  }
  ~AllDescriptors() {
    while (!taken_.empty()) give_back_one();
    setrlimit(RLIMIT_NOFILE, &before_);
  }
  AllDescriptors(const AllDescriptors&) = delete;
  AllDescriptors& operator=(const AllDescriptors&) = delete;

  void give_back_one() {
    close(taken_.back());
    taken_.pop_back();
  }

 private:
  rlimit before_{};
  std::vector<int> taken_;
};

int with_descriptors_soon(const ExperimentDirectory& directory) {
  std::optional<AllDescriptors> all;
  std::atomic<int> step = 0;
  std::thread other([&] {
    step = 1;
    step.notify_one();
    step.wait(1);
    std::this_thread::sleep_for(std::chrono::milliseconds(3));
    all->give_back_one();
    all->give_back_one();
  });
  step.wait(0);  // a sanitizer needs descriptors to look at a thread's beginning
  all.emplace();
  step = 2;
  step.notify_one();
  const int file = directory.open_file("stacks", O_RDWR | O_CREAT);
  other.join();
  if (file >= 0) close(file);
  return file;
}

TEST(FileSpace, DescriptorsThatAreAllInUseForAMomentAreWaitedFor) {
  const Directory folder;
  ExperimentDirectory directory;
  ASSERT_EQ(directory.open_path(folder.path().c_str()), 0);
  {
    const AllDescriptors all;
    EXPECT_EQ(directory.open_file("stacks", O_RDWR | O_CREAT), -EMFILE);
  }
  // On a busy machine the other thread may be late.
  int file = -1;
  for (int left = 50; left > 0 && file < 0; --left) file = with_descriptors_soon(directory);
  EXPECT_GE(file, 0);
}

}  // namespace
}  // namespace gnomon::test
