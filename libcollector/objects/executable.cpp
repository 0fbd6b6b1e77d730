// The path of the program's own file. Normal context. Of the system's calls only readlink is made,
// which a seccomp filter was asked for.
#include "libcollector/objects/executable.h"

#include <errno.h>
#include <sys/syscall.h>

#include <cstring>

#include "libcollector/core/syscall.h"

namespace gnomon::collector {

bool executable_path(char* path, std::size_t size) {
  const long n =
      raw_syscall(SYS_readlink, arg("/proc/self/exe"), arg(path), static_cast<long>(size - 1));
  path[n > 0 ? n : 0] = 0;
  static constexpr char kRemoved[] = " (deleted)";  // proc_pid_exe(5)
  constexpr long kLength = sizeof kRemoved - 1;
  if (n <= kLength || std::strcmp(path + n - kLength, kRemoved) != 0) return n > 0;
  // A file that is there may be called so, too.
  char first = 0;
  if (raw_syscall(SYS_readlink, arg(path), arg(&first), 1) == -ENOENT) path[n - kLength] = 0;
  return true;
}

}  // namespace gnomon::collector
