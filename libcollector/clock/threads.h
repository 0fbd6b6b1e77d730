// The threads that a session samples: how they come and go.
#pragma once
#include "libcollector/target/thread_slots.h"

namespace gnomon::collector {

// Once a process. Returns false if the program has used up the keys of pthread_key_create. Normal
// context.
bool prepare_threads();
// From now on gnomon-sampler, which may be the clock of the recording, is told of threads that end.
// Normal context.
void tell_ends_of_threads();

// Has the calling thread take over a slot that was made for it by another one. Returns false if it
// is not the slot's thread, or cannot take it now. Any context.
bool adopt_thread(Thread& slot);
// Frees the slot if its thread has ended. Returns true if this call has freed it. Normal context.
bool forget_if_ended(Thread& thread);
// Looks at a few slots and frees those of threads whose end was not noticed. Normal context.
void forget_ended_threads();
// Ends the sampling of the calling thread, whose slot it is, for good. Normal context.
void end_thread(Thread& thread);
// Returns the calling thread's slot, which it adopts now if its first tick was to do so, or null if
// it is not sampled. Any context.
Thread* calling_thread();
// Starts the clock of the calling thread, whose slot it is, if the clock was withheld because the
// thread blocked SIGPROF and it no longer does. Any context.
void start_parked_clock(Thread& thread);
// Gives the calling thread that slot, whose tid and stack the caller has filled, until it ends.
void own_slot(Thread& thread);
// Starts the clock of the calling thread, whose slot it is, if the recording has a clock.
void begin_clock(Thread& thread);

}  // namespace gnomon::collector
