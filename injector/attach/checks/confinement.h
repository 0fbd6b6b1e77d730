// Preflight: do system call filters (seccomp) of a process let the collector live in it? One thread
// of ours.
#pragma once
#include <sys/types.h>

#include <chrono>

#include "reader/base/result.h"

namespace gnomon::injector {

// Reads the filters of each of its threads, which stand still for that one at a time; for how long.
// hands: files are to be handed to it.
Result<std::chrono::nanoseconds> check_filters_by_ptrace(pid_t pid, bool hands);

// Of a process that a debugger holds, whose filters nobody can read then. They are known where they
// are those that this process lives under itself, as in one container.
Result<void> check_filters_of_held(pid_t pid, bool hands);

}  // namespace gnomon::injector
