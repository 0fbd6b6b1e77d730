// Threads that block SIGPROF, for which a clock ticks now: SIGPROF is taken out of their masks, and
// the program goes on believing that they block it. Any thread.
#pragma once
#include <sys/types.h>

#include <chrono>
#include <vector>

#include "injector/attach/safe_point.h"
#include "injector/attach/waiting.h"
#include "libcollector/format/attach.h"

namespace gnomon::injector {

// Where a thread's mask is its own: libc blocks all signals for a moment in fork(2) and its like,
// and a handler for as long as it runs. Both put back what was.
class MaskPoints {
 public:
  // Reads what `of` needs, so that no thread has to stand still for that.
  explicit MaskPoints(pid_t pid) : points_(pid) { points_.prepare(); }
  // `waits`: in a system call that can begin anew.
  SafePoint of(const Stopped& thread, bool waits);

 private:
  SafePoints points_;
};

// False: the slot is another thread's by now, or cannot be written.
bool note_masked(pid_t pid, const format::BlockingThread& thread, bool is_masked);

// Of a process that no debugger holds, one thread after another. For how long threads stood still.
std::chrono::nanoseconds unblock_by_ptrace(pid_t pid, std::vector<format::BlockingThread>& threads);

}  // namespace gnomon::injector
