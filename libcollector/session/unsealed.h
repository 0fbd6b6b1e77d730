// Recordings that have ended while threads were in traced calls. Their files stay mapped and held,
// because those threads may still write to them. Normal context, one thread at a time.
#pragma once
#include "libcollector/record/recorder.h"
#include "libcollector/trace/thread_block.h"

namespace gnomon::collector {

// Writes out the traced events of a recording that has stopped. Returns true if that are all. The
// rest stays in the experiment's lanes.
bool write_out_traced(Recorder& of);

// Keeps a recording that has ended to be sealed later.
void keep_unsealed(Recorder& of);
// Seals those whose last threads have left their traced calls.
void seal_earlier();

bool has_unsealed();
// Closes what they hold open, for good: they are never sealed.
void leave_unsealed();

// Returns the count of threads that are still in traced calls of recordings that have ended, and of
// the events that they hold. The next seal_earlier() writes those out, if the threads have left.
Kept kept_back();

}  // namespace gnomon::collector
