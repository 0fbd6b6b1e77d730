// Changes from outside whether threads block SIGPROF: it is removed from their masks while they are
// sampled, with the block emulated in the program's view, and added again afterwards. Any thread.
#pragma once
#include <sys/types.h>

#include <chrono>
#include <vector>

#include "injector/attach/gate/mask_gate.h"
#include "injector/attach/remote/waiting.h"
#include "injector/attach/safe_point.h"
#include "libcollector/format/attach.h"

namespace gnomon::injector {

// Finds where a thread's mask is its own: libc blocks all signals for a moment in fork(2) and its
// like, a handler blocks signals while it runs, and both restore the mask. An allocator does so by
// libc.
class MaskPoints {
 public:
  // Reads what of() needs, so that no thread has to be stopped meanwhile.
  MaskPoints(pid_t pid, MaskChange change)
      : change_(change), points_(pid, SafePoints::Locks::no_allocators) {
    points_.prepare();
  }
  // waits: the thread is in a system call that can restart.
  SafePoint of(const Stopped& thread, bool waits);

 private:
  MaskChange change_;
  SafePoints points_;
};

// Returns true if the thread blocks SIGPROF in the program's view only.
bool emulates_mask(pid_t pid, const format::BlockingThread& thread);
// Notes in the thread's slot whether the block is emulated after `change`. Returns false if the
// slot belongs to another thread by now or cannot be written.
bool note_change(pid_t pid, const format::BlockingThread& thread, MaskChange change);
// Takes that note back, because the mask was not changed.
void take_note_back(pid_t pid, const format::BlockingThread& thread, MaskChange change);

// Changes the masks in a process that no debugger holds, one thread after another. Returns for how
// long threads were stopped.
std::chrono::nanoseconds change_masks_by_ptrace(pid_t pid,
                                                std::vector<format::BlockingThread>& threads,
                                                MaskChange change);

}  // namespace gnomon::injector
