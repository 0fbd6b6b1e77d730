// The path of the program's own file. Normal context. Makes no system call but readlink, which the
// seccomp preflight has already tested.
#include "libcollector/objects/executable.h"

#include <sys/syscall.h>

#include "libcollector/core/syscall.h"
#include "libcollector/objects/file_path.h"

namespace gnomon::collector {

bool executable_path(char* path, std::size_t size) {
  const long n =
      raw_syscall(SYS_readlink, arg("/proc/self/exe"), arg(path), static_cast<long>(size - 1));
  path[n > 0 ? n : 0] = 0;
  if (n > 0) take_off_removed(path, static_cast<std::size_t>(n));
  return n > 0;
}

}  // namespace gnomon::collector
