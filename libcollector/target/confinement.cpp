// Restrictions of the program's system calls. Normal context.
#include "libcollector/target/confinement.h"

#include <atomic>
#include <cstring>

#include "libcollector/core/proc_status.h"
#include "libcollector/core/syscall.h"

namespace gnomon::collector {
namespace {

constinit std::atomic<void (*)()> at_confinement = nullptr;

}  // namespace

// proc_pid_status(5). prctl(PR_GET_SECCOMP) may itself end the program.
bool is_confined() {
  ProcStatus status;
  if (!status.read(static_cast<std::uint32_t>(raw_syscall(SYS_gettid)))) return true;
  const char* mode = status.find("Seccomp");
  return !mode || std::strncmp(mode, "0\n", 2) != 0;
}

void end_at_confinement(void (*end)()) { at_confinement = end; }

void before_confinement() {
  if (auto* const end = at_confinement.load()) end();
}

}  // namespace gnomon::collector
