// Threads that block SIGPROF, for which a clock ticks now: SIGPROF is taken out of their masks, and
// the program goes on believing that they block it; afterwards it is put there again. Any thread.
#pragma once
#include <sys/types.h>

#include <chrono>
#include <vector>

#include "injector/attach/gate/mask_gate.h"
#include "injector/attach/remote/waiting.h"
#include "injector/attach/safe_point.h"
#include "libcollector/format/attach.h"

namespace gnomon::injector {

// Where a thread's mask is its own: libc blocks all signals for a moment in fork(2) and its like,
// and a handler for as long as it runs. Both put back what was. An allocator does so by libc.
class MaskPoints {
 public:
  // Reads what `of` needs, so that no thread has to stand still for that.
  MaskPoints(pid_t pid, MaskChange change)
      : change_(change), points_(pid, SafePoints::Locks::no_allocators) {
    points_.prepare();
  }
  // `waits`: in a system call that can begin anew.
  SafePoint of(const Stopped& thread, bool waits);

 private:
  MaskChange change_;
  SafePoints points_;
};

// The program believes that the thread blocks SIGPROF, which it does not.
bool emulates_mask(pid_t pid, const format::BlockingThread& thread);
// What the program believes of a thread whose mask is changed so. False: the slot is another
// thread's by now, or cannot be written.
bool note_change(pid_t pid, const format::BlockingThread& thread, MaskChange change);
// It was not.
void take_note_back(pid_t pid, const format::BlockingThread& thread, MaskChange change);

// Of a process that no debugger holds, one thread after another. For how long threads stood still.
std::chrono::nanoseconds change_masks_by_ptrace(pid_t pid,
                                                std::vector<format::BlockingThread>& threads,
                                                MaskChange change);

}  // namespace gnomon::injector
