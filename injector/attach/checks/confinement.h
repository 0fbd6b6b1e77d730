// Preflight: do the system call filters (seccomp) of a process allow what the collector needs?
// Called and finished on one thread.
#pragma once
#include <sys/types.h>

#include <chrono>

#include "reader/base/result.h"

namespace gnomon::injector {

// Reads and checks the filters of every thread, one stopped at a time. hands: files will be handed
// to the process as descriptors. Returns for how long threads were stopped.
Result<std::chrono::nanoseconds> check_filters_by_ptrace(pid_t pid, bool hands);

// The same for a process that a debugger holds, whose filters nobody else can read. They are known
// only if this process has the same ones, as in one container.
Result<void> check_filters_of_held(pid_t pid, bool hands);

}  // namespace gnomon::injector
