// The session of this process: the experiment being written. Normal context.
#pragma once
#include "libcollector/core/recorder.h"
#include "libcollector/core/threads.h"

namespace gnomon::collector {

// The recorder while this process records; null otherwise, and in a fork child.
Recorder* active_recorder();

// Makes the calling thread, whose slot it is, a sampled one until it ends. Slot fields tid, stack
// are filled by the caller.
void begin_thread(Thread& thread);

}  // namespace gnomon::collector
