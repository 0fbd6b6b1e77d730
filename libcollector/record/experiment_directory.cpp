// The directory of an experiment, as the recorded process reaches it: by path or by a descriptor.
// Any context; raw system calls.
#include "libcollector/record/experiment_directory.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "libcollector/core/atomic.h"
#include "libcollector/core/syscall.h"

namespace gnomon::collector {
namespace {

// Moves a descriptor above the numbers that programs use.
int moved_up(int descriptor) {
  constexpr std::uint64_t kUsual = 1024, kBelow = 24;
  rlimit limit{};
  if (raw_syscall(SYS_prlimit64, 0, RLIMIT_NOFILE, 0, arg(&limit)) != 0) return descriptor;
  const std::uint64_t end = std::min<std::uint64_t>(limit.rlim_cur, kUsual);
  const long up = raw_syscall(SYS_fcntl, descriptor, F_DUPFD_CLOEXEC,
                              static_cast<long>(end > 2 * kBelow ? end - kBelow : 0));
  if (up < 0) return descriptor;
  raw_syscall(SYS_close, descriptor);
  return static_cast<int>(up);
}

}  // namespace

bool ExperimentDirectory::identify(int descriptor, Identity& found) {
  struct stat info {};
  if (raw_syscall(SYS_newfstatat, descriptor, arg(""), arg(&info), AT_EMPTY_PATH) != 0)
    return false;
  found = {info.st_dev, info.st_ino};
  return true;
}

int ExperimentDirectory::open_path(const char* path) {
  give_back();
  if (std::strlen(path) >= sizeof path_) return ENAMETOOLONG;
  const long opened =
      raw_syscall(SYS_openat, AT_FDCWD, arg(path), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (opened < 0) return static_cast<int>(-opened);
  const bool known = identify(static_cast<int>(opened), identity_);
  raw_syscall(SYS_close, opened);
  if (!known) return ENOTDIR;
  std::memcpy(path_, path, std::strlen(path) + 1);
  return 0;
}

int ExperimentDirectory::take(int descriptor) {
  give_back();
  path_[0] = 0;
  const int taken = moved_up(descriptor);
  if (!identify(taken, identity_)) {
    raw_syscall(SYS_close, taken);
    return EBADF;
  }
  handed_ = taken;
  atomic(is_handed_).store(1);
  return 0;
}

void ExperimentDirectory::give_back() {
  if (atomic(is_handed_).exchange(0) == 0) return;
  Identity now{};
  if (identify(handed_, now) && now.device == identity_.device && now.file == identity_.file)
    raw_syscall(SYS_close, handed_);
}

int ExperimentDirectory::open_itself() const {
  const bool is_handed = is_handed_ != 0;
  if (!is_handed && path_[0] == 0) return -ESTALE;
  const int directory =
      is_handed ? handed_
                : static_cast<int>(raw_syscall(SYS_openat, AT_FDCWD, arg(path_),
                                               O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (directory < 0) return directory;
  Identity now{};
  if (identify(directory, now) && now.device == identity_.device && now.file == identity_.file)
    return directory;
  close_unless_handed(directory);
  return -ESTALE;
}

void ExperimentDirectory::close_unless_handed(int descriptor) const {
  if (is_handed_ == 0 || descriptor != handed_) raw_syscall(SYS_close, descriptor);
}

int ExperimentDirectory::try_to_open(const char* name, int flags) const {
  const int directory = open_itself();
  if (directory < 0) return directory;
  const long file =
      raw_syscall(SYS_openat, directory, arg(name), flags | O_CLOEXEC | O_NOFOLLOW, 0600);
  close_unless_handed(directory);
  return static_cast<int>(file);
}

// Where descriptors are few, other threads of a recording may hold the last ones, each for the time
// of a call.
int ExperimentDirectory::open_file(const char* name, int flags) const {
  constexpr int kTries = 200;
  constexpr timespec kPause{0, 100'000};
  for (int left = kTries;; --left) {
    const int file = try_to_open(name, flags);
    if ((file != -EMFILE && file != -ENFILE) || left == 0) return file;
    raw_syscall(SYS_nanosleep, arg(&kPause), 0);
  }
}

int ExperimentDirectory::rename_file(const char* from, const char* to) const {
  const int directory = open_itself();
  if (directory < 0) return directory;
  const long done = raw_syscall(SYS_renameat, directory, arg(from), directory, arg(to));
  close_unless_handed(directory);
  return static_cast<int>(done);
}

int ExperimentDirectory::remove_file(const char* name) const {
  const int directory = open_itself();
  if (directory < 0) return directory;
  const long done = raw_syscall(SYS_unlinkat, directory, arg(name), 0);
  close_unless_handed(directory);
  return static_cast<int>(done);
}

}  // namespace gnomon::collector
