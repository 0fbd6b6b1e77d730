// Which thread of a running process can be borrowed, by stopping one of them at a time. One thread
// of ours.
#pragma once
#include <sys/types.h>

#include <chrono>

#include "injector/attach/ptrace/traced_thread.h"
#include "reader/base/result.h"

namespace gnomon::injector {

struct PtraceChoice {
  TracedThread thread;            // stopped where it can be borrowed
  std::chrono::nanoseconds held;  // how long threads stood still that were not fit
};

// A thread that has to get on for that runs by itself, with all the others.
Result<PtraceChoice> choose_by_ptrace(pid_t pid);

}  // namespace gnomon::injector
