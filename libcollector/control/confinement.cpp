// Whether the program's system calls are filtered. Normal context.
#include "libcollector/control/confinement.h"

#include <fcntl.h>

#include <cstring>

#include "libcollector/core/syscall.h"

namespace gnomon::collector {

// proc_pid_status(5). prctl(PR_GET_SECCOMP) may itself end the program.
bool is_confined() {
  const long file =
      raw_syscall(SYS_openat, AT_FDCWD, arg("/proc/self/status"), O_RDONLY | O_CLOEXEC);
  if (file < 0) return true;
  static char text[8192];
  const long length = raw_syscall(SYS_read, file, arg(text), sizeof text - 1);
  raw_syscall(SYS_close, file);
  if (length <= 0) return true;
  text[length] = 0;
  return std::strstr(text, "\nSeccomp:\t0\n") == nullptr;
}

}  // namespace gnomon::collector
