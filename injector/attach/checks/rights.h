// Tells whether this process may trace another one with ptrace(2). Reads /proc; any thread; stops
// nothing.
#pragma once
#include <sys/types.h>

#include "reader/base/result.h"

namespace gnomon::injector {

// Returns a Fault if the number is that of a thread, which Linux takes for a process in many
// places.
Result<void> check_is_process(pid_t pid);

// Returns a Fault that says why not and what would help; also for a process that cannot be traced
// just now, because a shell has stopped it, a debugger holds it, or it is about to end.
Result<void> check_rights(pid_t pid);

}  // namespace gnomon::injector
