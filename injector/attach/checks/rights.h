// Whether this process may hold another one with ptrace(2). From /proc; any thread; nothing is
// stopped.
#pragma once
#include <sys/types.h>

#include "reader/base/result.h"

namespace gnomon::injector {

// A fault: why not, and what would help. Also for a process that cannot be held just now: stopped
// by a shell, held by a debugger, about to end.
Result<void> check_rights(pid_t pid);

}  // namespace gnomon::injector
