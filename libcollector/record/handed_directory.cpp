// The experiment's directory when it was handed to this process as a descriptor. The program may
// close the descriptor or reuse its number, so the directory's identity is compared before each
// use. Any context; raw system calls.
#include "libcollector/record/handed_directory.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstring>

#include "libcollector/core/atomic.h"
#include "libcollector/core/syscall.h"

namespace gnomon::collector {
namespace {

struct Identity {
  dev_t device;
  ino_t file;
};

constinit int directory = -1;
constinit Identity identity{};

bool identify(int descriptor, Identity& found) {
  struct stat info {};
  if (raw_syscall(SYS_newfstatat, descriptor, arg(""), arg(&info), AT_EMPTY_PATH) != 0)
    return false;
  found = {info.st_dev, info.st_ino};
  return true;
}

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

bool take_directory(int descriptor, char (&path)[kHandedPathBytes]) {
  constexpr char kFolder[] = "/proc/self/fd/";
  give_directory_back();
  const int taken = moved_up(descriptor);
  if (!identify(taken, identity)) {
    raw_syscall(SYS_close, taken);
    return false;
  }
  atomic(directory).store(taken);
  std::memcpy(path, kFolder, sizeof kFolder);
  char* at = path + sizeof kFolder - 1;
  int scale = 1;
  while (taken / scale >= 10) scale *= 10;
  for (; scale > 0; scale /= 10) *at++ = static_cast<char>('0' + taken / scale % 10);
  *at = 0;
  return true;
}

bool is_directory_there() {
  const int at = atomic(directory).load();
  Identity now{};
  return at < 0 ||
         (identify(at, now) && now.device == identity.device && now.file == identity.file);
}

void give_directory_back() {
  const bool is_there = is_directory_there();
  const int at = atomic(directory).exchange(-1);
  if (at >= 0 && is_there) raw_syscall(SYS_close, at);
}

}  // namespace gnomon::collector
