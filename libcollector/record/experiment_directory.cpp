// The directory of an experiment, as the recorded process reaches it: by path or by a descriptor.
// Any context; raw system calls.
#include "libcollector/record/experiment_directory.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>

#include <cerrno>
#include <cstring>

#include "libcollector/core/own_descriptors.h"
#include "libcollector/core/syscall.h"

namespace gnomon::collector {
int ExperimentDirectory::open_path(const char* path) {
  give_back();
  if (std::strlen(path) >= sizeof path_) return ENAMETOOLONG;
  const long opened =
      raw_syscall(SYS_openat, AT_FDCWD, arg(path), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (opened < 0) return static_cast<int>(-opened);
  bool is_removed = false;
  const bool known = identify(static_cast<int>(opened), identity_, is_removed);
  raw_syscall(SYS_close, opened);
  if (!known) return ENOTDIR;
  std::memcpy(path_, path, std::strlen(path) + 1);
  return 0;
}

int ExperimentDirectory::take(int descriptor) {
  give_back();
  path_[0] = 0;
  bool is_removed = false;
  if (!identify(descriptor, identity_, is_removed)) return EBADF;
  return itself_.hold(descriptor, identity_, IfFew::keep);
}

void ExperimentDirectory::give_back() {
  for (Named& each : held_) each.file.close();
  held_count_ = 0;
  itself_.close();
}

void ExperimentDirectory::hold_itself() {
  if (itself_.descriptor() >= 0) return;
  if (const int opened = open_itself(); opened >= 0) itself_.hold(opened, identity_);
}

bool ExperimentDirectory::identify_file(const char* name, Inode& found) const {
  const int directory = open_itself();
  if (directory < 0) return false;
  struct stat info {};
  const long error =
      raw_syscall(SYS_newfstatat, directory, arg(name), arg(&info), AT_SYMLINK_NOFOLLOW);
  close_unless_held(directory);
  found = {info.st_dev, info.st_ino};
  return error == 0;
}

void ExperimentDirectory::hold(const char* name, int flags) {
  if (held_count_ == kHeldFiles || held(name) >= 0) return;
  const int opened = open_file(name, flags | O_CREAT);
  if (opened < 0) return;
  Inode file{};
  // Not known: nothing is open as it, so hold() fails.
  identify_file(name, file);
  if (held_[held_count_].file.hold(opened, file) != 0) return;
  held_[held_count_].name = name;
  ++held_count_;
}

int ExperimentDirectory::held(const char* name) const {
  for (std::uint32_t i = 0; i < held_count_; ++i)
    if (std::strcmp(held_[i].name, name) == 0) return held_[i].file.descriptor();
  return -1;
}

int ExperimentDirectory::open_itself() const {
  if (const int there = itself_.descriptor(); there >= 0) return there;
  if (path_[0] == 0) return -ESTALE;
  const int directory = static_cast<int>(
      raw_syscall(SYS_openat, AT_FDCWD, arg(path_), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (directory < 0) return directory;
  if (is_there(directory, identity_)) return directory;
  raw_syscall(SYS_close, directory);
  return -ESTALE;
}

void ExperimentDirectory::close_unless_held(int descriptor) const {
  if (!itself_.is(descriptor)) raw_syscall(SYS_close, descriptor);
}

int ExperimentDirectory::try_to_open(const char* name, int flags) const {
  const int directory = open_itself();
  if (directory < 0) return directory;
  const long file =
      raw_syscall(SYS_openat, directory, arg(name), flags | O_CLOEXEC | O_NOFOLLOW, 0600);
  close_unless_held(directory);
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

template <typename Use>
int ExperimentDirectory::with_itself(Use&& use) const {
  if (const int there = itself_.descriptor(); there >= 0) return static_cast<int>(use(there));
  int answer = 0;
  with_own_descriptors([&] {
    const int directory = open_itself();
    answer = directory < 0 ? directory : static_cast<int>(use(directory));
    if (directory >= 0) close_unless_held(directory);
  });
  return answer;
}

int ExperimentDirectory::rename_file(const char* from, const char* to) const {
  return with_itself([&](int directory) {
    return raw_syscall(SYS_renameat, directory, arg(from), directory, arg(to));
  });
}

int ExperimentDirectory::remove_file(const char* name) const {
  return with_itself(
      [&](int directory) { return raw_syscall(SYS_unlinkat, directory, arg(name), 0); });
}

}  // namespace gnomon::collector
