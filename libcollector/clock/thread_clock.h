// CPU clock: a timer on each thread's CPU time whose SIGPROF records a clock sample.
#pragma once
#include <cstdint>

#include "libcollector/core/recorder.h"
#include "libcollector/core/threads.h"
#include "libcollector/unwind/unwinder.h"

namespace gnomon::collector {

// Called in the handler for every frame the stack table did not know.
using FreshFrame = void (*)(std::uint64_t pc, Recorder& recorder, Lane& lane);

// Installs the handler. recorder: in memory a fork child sees zeroed. False: refused. Normal
// context.
bool install_clock(Recorder& recorder, Unwinder& unwinder, std::uint64_t interval_ns,
                   FreshFrame fresh);
// Starts and stops the clock of the calling thread, whose slot it is. Normal context.
bool start_clock(Thread& thread);
void stop_clock(Thread& thread);

}  // namespace gnomon::collector
