// A file of an experiment that stays open while it is recorded. Any context; raw system calls.
#include "libcollector/record/held_file.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>

#include "libcollector/core/atomic.h"
#include "libcollector/core/syscall.h"

namespace gnomon::collector {
namespace {

// All held files of this process. Unlike a HeldFile they are not zeroed in a fork child. The kernel
// copies the descriptors for a child before it copies the memory, so a file that is closed while a
// thread forks stays here until it has.
struct Registered {
  std::uint32_t pid;  // of the process that holds it; 0: a free place
  std::uint32_t is_closed;
  int descriptor;
  Inode identity;
};
constexpr int kRegistered = 64;
constinit Registered registered[kRegistered] = {};
constinit std::uint32_t forking = 0;  // threads

std::uint32_t own_pid() { return static_cast<std::uint32_t>(raw_syscall(SYS_getpid)); }

long set_limit(const rlimit& to, rlimit* before) {
  return raw_syscall(SYS_prlimit64, 0, RLIMIT_NOFILE, arg(&to), arg(before));
}

// A limit that somebody else has set meanwhile stays. The hard limit may be raised by root.
long lift_above(int descriptor, const rlimit& limit) {
  rlimit raised = limit, found{};
  raised.rlim_cur += kRegistered;
  raised.rlim_max = std::max(raised.rlim_max, raised.rlim_cur);
  if (const long error = set_limit(raised, nullptr); error != 0) return error;
  const long lifted =
      raw_syscall(SYS_fcntl, descriptor, F_DUPFD_CLOEXEC, static_cast<long>(limit.rlim_cur));
  set_limit(limit, &found);
  if (found.rlim_cur != raised.rlim_cur || found.rlim_max != raised.rlim_max)
    set_limit(found, nullptr);
  return lifted;
}

// Returns the new number, or -errno. Not higher than kHigh: fork(2) copies the table of descriptors
// up to the highest one, 8 bytes each.
long lifted(int descriptor) {
  constexpr std::uint64_t kHigh = 32768, kFew = 256;
  rlimit limit{};
  if (const long error = raw_syscall(SYS_prlimit64, 0, RLIMIT_NOFILE, 0, arg(&limit)); error != 0)
    return error;
  if (limit.rlim_cur <= kHigh)
    if (const long up = lift_above(descriptor, limit); up >= 0) return up;
  if (limit.rlim_cur < kFew) return -EMFILE;
  const std::uint64_t end = std::min<std::uint64_t>(limit.rlim_cur, kHigh);
  return raw_syscall(SYS_fcntl, descriptor, F_DUPFD_CLOEXEC, static_cast<long>(end - kRegistered));
}

bool is_open_as(const Inode& file, int descriptor) {
  Inode now{};
  bool is_removed = false;
  return identify(descriptor, now, is_removed) && now == file;
}

void close_if_open_as(const Inode& file, int descriptor) {
  if (is_open_as(file, descriptor)) raw_syscall(SYS_close, descriptor);
}

// Returns false if no place is free.
bool enter(int descriptor, const Inode& identity) {
  const std::uint32_t own = own_pid();
  for (Registered& place : registered) {
    std::uint32_t none = 0;
    if (!atomic(place.pid).compare_exchange_strong(none, own)) continue;
    place.is_closed = 0;
    place.identity = identity;
    place.descriptor = descriptor;
    return true;
  }
  return false;
}

void free_closed_places() {
  for (Registered& place : registered)
    if (atomic(place.is_closed).exchange(0) != 0) atomic(place.pid).store(0);
}

void note_closed(int descriptor) {
  const std::uint32_t own = own_pid();
  for (Registered& place : registered)
    if (atomic(place.pid).load() == own && place.descriptor == descriptor)
      atomic(place.is_closed).store(1);
  if (atomic(forking).load() == 0) free_closed_places();
}

// The thread that has forked is the only one here. It makes no system call if nothing was held: a
// filter may forbid it.
void close_inherited_files() {
  std::uint32_t own = 0;
  for (Registered& place : registered) {
    const std::uint32_t pid = atomic(place.pid).load();
    if (pid == 0) continue;
    if (own == 0) own = own_pid();
    if (pid == own) continue;
    close_if_open_as(place.identity, place.descriptor);
    atomic(place.pid).store(0);
  }
}

}  // namespace

bool identify(int descriptor, Inode& found, bool& is_removed) {
  struct stat info {};
  if (raw_syscall(SYS_newfstatat, descriptor, arg(""), arg(&info), AT_EMPTY_PATH) != 0)
    return false;
  found = {info.st_dev, info.st_ino};
  is_removed = info.st_nlink == 0;
  return true;
}

bool is_there(int descriptor, const Inode& file) {
  Inode now{};
  bool is_removed = false;
  return identify(descriptor, now, is_removed) && !is_removed && now == file;
}

int HeldFile::hold(int descriptor, const Inode& file, IfFew if_few) {
  close();
  close_inherited_files();
  const long moved = lifted(descriptor);
  const int held = moved >= 0 ? static_cast<int>(moved) : descriptor;
  const bool is_taken =
      is_open_as(file, held) && (moved >= 0 || if_few == IfFew::keep) && enter(held, file);
  if (moved >= 0 || !is_taken) close_if_open_as(file, descriptor);
  if (!is_taken && moved >= 0) raw_syscall(SYS_close, moved);
  if (!is_taken) return moved < 0 ? static_cast<int>(-moved) : EBADF;
  descriptor_ = held;
  identity_ = file;
  atomic(is_held_).store(1, std::memory_order_release);
  return 0;
}

int HeldFile::descriptor() const {
  const bool is_held = atomic(is_held_).load(std::memory_order_acquire) != 0;
  return is_held && is_there(descriptor_, identity_) ? descriptor_ : -1;
}

void HeldFile::close() {
  if (atomic(is_held_).exchange(0) == 0) return;
  close_if_open_as(identity_, descriptor_);
  note_closed(descriptor_);
}

void before_fork() { atomic(forking).fetch_add(1); }

void after_fork() {
  if (atomic(forking).fetch_sub(1) == 1) free_closed_places();
}

void after_fork_in_child() {
  forking = 0;
  close_inherited_files();
}

}  // namespace gnomon::collector
