// Files of an experiment that stay open, where the program does not meet their descriptors.
#include "libcollector/record/held_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <string>

#include "libcollector/record/experiment_directory.h"
#include "libcollector/record/file_space.h"
#include "tests/unit/experiment/written.h"

namespace gnomon::test {
namespace {

using namespace collector;

Inode inode_of(const std::string& path) {
  struct stat info {};
  EXPECT_EQ(lstat(path.c_str(), &info), 0);
  return {info.st_dev, info.st_ino};
}

class SoftLimit {
 public:
  explicit SoftLimit(rlim_t soft) {
    getrlimit(RLIMIT_NOFILE, &before_);
    const rlimit now{soft, before_.rlim_max};
    is_set_ = setrlimit(RLIMIT_NOFILE, &now) == 0;
  }
  ~SoftLimit() { setrlimit(RLIMIT_NOFILE, &before_); }
  SoftLimit(const SoftLimit&) = delete;
  SoftLimit& operator=(const SoftLimit&) = delete;
  bool is_set() const { return is_set_; }

 private:
  rlimit before_{};
  bool is_set_ = false;
};

struct OpenedFile {
  explicit OpenedFile(const Directory& in, const char* name = "data")
      : path(in.file(name)), descriptor(open(path.c_str(), O_RDWR | O_CREAT, 0600)) {}
  std::string path;
  int descriptor;
};

TEST(HeldFile, LiesAboveTheLimitAndLeavesTheLowestNumber) {
  const Directory folder;
  const SoftLimit limit(300);
  ASSERT_TRUE(limit.is_set());
  const OpenedFile opened(folder);
  HeldFile held{};
  ASSERT_EQ(held.hold(opened.descriptor, inode_of(opened.path)), 0);
  EXPECT_GE(held.descriptor(), 300);
  EXPECT_EQ(pwrite(held.descriptor(), "a", 1, 0), 1);
  const int next = open("/dev/null", O_RDONLY);
  EXPECT_EQ(next, opened.descriptor);
  close(next);
  rlimit now{};
  getrlimit(RLIMIT_NOFILE, &now);
  EXPECT_EQ(now.rlim_cur, 300u);
  const int number = held.descriptor();
  held.close();
  EXPECT_EQ(fcntl(number, F_GETFD), -1);
}

TEST(HeldFile, IsNotOfferedOnceItsNumberIsAnothersOrItIsRemoved) {
  const Directory folder;
  const OpenedFile first(folder, "first"), second(folder, "second"), third(folder, "third");
  HeldFile closed{}, removed{};
  ASSERT_EQ(closed.hold(first.descriptor, inode_of(first.path)), 0);
  ASSERT_EQ(removed.hold(second.descriptor, inode_of(second.path)), 0);
  const int number = closed.descriptor();
  close(number);
  EXPECT_EQ(closed.descriptor(), -1);
  unlink(second.path.c_str());
  EXPECT_EQ(removed.descriptor(), -1);
  removed.close();
  const SoftLimit limit(static_cast<rlim_t>(number) + 1);
  ASSERT_EQ(dup2(third.descriptor, number), number);
  EXPECT_EQ(closed.descriptor(), -1);
  closed.close();
  EXPECT_GE(fcntl(number, F_GETFD), 0) << "another's descriptor is closed";
  close(number);
  close(third.descriptor);
}

TEST(HeldFile, NumberThatIsTakenMeanwhileStaysItsOwners) {
  const Directory folder;
  const OpenedFile mine(folder, "mine"), others(folder, "others");
  ASSERT_EQ(dup2(others.descriptor, mine.descriptor), mine.descriptor);
  HeldFile held{};
  EXPECT_EQ(held.hold(mine.descriptor, inode_of(mine.path)), EBADF);
  EXPECT_EQ(held.descriptor(), -1);
  EXPECT_GE(fcntl(mine.descriptor, F_GETFD), 0);
  close(mine.descriptor);
  close(others.descriptor);
}

// Returns whether the number is a descriptor in a child that is forked now.
bool has_fork_child(int number) {
  const pid_t child = fork();
  if (child == 0) {
    after_fork_in_child();
    _exit(fcntl(number, F_GETFD) == -1 ? 0 : 1);
  }
  after_fork();
  int status = -1;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  return status != 0;
}

TEST(HeldFile, IsClosedInAForkChild) {
  const Directory folder;
  const OpenedFile opened(folder);
  HeldFile held{};
  ASSERT_EQ(held.hold(opened.descriptor, inode_of(opened.path)), 0);
  const int number = held.descriptor();
  before_fork();
  EXPECT_FALSE(has_fork_child(number));
  EXPECT_EQ(held.descriptor(), number);
  held.close();
}

// The kernel copies descriptors before memory, so the child has a descriptor that its parent has
// closed meanwhile.
TEST(HeldFile, IsClosedInAChildThatIsMadeWhileItIsClosed) {
  const Directory folder;
  const OpenedFile opened(folder);
  const Inode file = inode_of(opened.path);
  HeldFile held{};
  ASSERT_EQ(held.hold(opened.descriptor, file), 0);
  const int number = held.descriptor(), copy = dup(number);
  before_fork();
  held.close();
  const SoftLimit limit(static_cast<rlim_t>(number) + 1);
  ASSERT_EQ(dup2(copy, number), number);
  EXPECT_FALSE(has_fork_child(number));
  close(number);
  close(copy);
}

TEST(HeldFile, FileIsOpenedForEachUseOnceTheProgramHasClosedIt) {
  const Directory folder;
  ExperimentDirectory directory{};
  ASSERT_EQ(directory.open_path(folder.path().c_str()), 0);
  directory.hold("data", O_RDWR);
  const int held = directory.held("data");
  EXPECT_FALSE(write_range({directory, "data"}, 0, "a", 1));
  EXPECT_EQ(directory.held("data"), held);
  close(held);  // as closefrom(3) does
  EXPECT_EQ(directory.held("data"), -1);
  EXPECT_FALSE(write_range({directory, "data"}, 1, "b", 1));
  EXPECT_EQ(std::filesystem::file_size(folder.file("data")), 2u);
  directory.give_back();
}

}  // namespace
}  // namespace gnomon::test
