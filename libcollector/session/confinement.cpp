// Tells whether the program's system calls are filtered. Normal context.
#include "libcollector/session/confinement.h"

#include <cstring>

#include "libcollector/core/proc_status.h"
#include "libcollector/core/syscall.h"

namespace gnomon::collector {

// proc_pid_status(5). prctl(PR_GET_SECCOMP) may itself end the program.
bool is_confined() {
  ProcStatus status;
  if (!status.read(static_cast<std::uint32_t>(raw_syscall(SYS_gettid)))) return true;
  const char* mode = status.find("Seccomp");
  return !mode || std::strncmp(mode, "0\n", 2) != 0;
}

}  // namespace gnomon::collector
