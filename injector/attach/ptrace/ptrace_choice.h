// Chooses a thread of a running process that can be borrowed, by stopping one at a time. Called and
// finished on one thread.
#pragma once
#include <sys/types.h>

#include <chrono>

#include "injector/attach/thread/traced_thread.h"
#include "reader/base/result.h"

namespace gnomon::injector {

struct PtraceChoice {
  TracedThread thread;            // stopped where it can be borrowed
  std::chrono::nanoseconds held;  // how long unfit threads were stopped
};

// A thread that must first reach a safe point runs there by itself; the others run on.
Result<PtraceChoice> choose_by_ptrace(pid_t pid);

}  // namespace gnomon::injector
