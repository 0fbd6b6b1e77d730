// The path of the program's own file. Normal context. Makes no system call but readlink, which the
// seccomp preflight has already tested.
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
  // A file that exists may have a name that ends so.
  char first = 0;
  if (raw_syscall(SYS_readlink, arg(path), arg(&first), 1) == -ENOENT) path[n - kLength] = 0;
  return true;
}

}  // namespace gnomon::collector
