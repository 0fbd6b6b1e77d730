// Space of an experiment's files where the file system does not reserve any.
#include "libcollector/record/file_space.h"

#include <gtest/gtest.h>
#include <sys/mount.h>

#include <cstring>

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
  constexpr std::uint64_t kBytes = 64 * 1024;
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

}  // namespace
}  // namespace gnomon::test
