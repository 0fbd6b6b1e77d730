// Where a thread of a running process waits. Any thread; stops nothing.
#pragma once
#include <sys/types.h>

#include <cstdint>
#include <optional>

#include "injector/attach/remote/remote_stack.h"

namespace gnomon::injector {

struct LiveWait {
  long call = -1;              // number of the system call
  std::uint64_t argument = 0;  // its first
  CallStack stack;             // as far as it can be walked without rbp
};

// Returns nothing for a thread that is not in a system call, has gone on meanwhile, or may not be
// looked at (proc_pid_syscall(5)).
std::optional<LiveWait> live_wait_of(pid_t pid, pid_t thread, RemoteStacks& stacks);

// Returns false if this user may not look at the threads of the process.
bool may_look_at_waits(pid_t pid);

}  // namespace gnomon::injector
