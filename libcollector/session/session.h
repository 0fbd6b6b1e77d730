// The session of this process: the experiment being written. Normal context.
#pragma once
#include "libcollector/core/thread_slots.h"
#include "libcollector/record/recorder.h"
#include "libcollector/record/settings.h"

namespace gnomon::collector {

// The recorder while this process records; null otherwise, and in a fork child.
Recorder* active_recorder();

struct Beginning {
  Recorder* recorder;  // null: there is no experiment, `error` says why
  int error;           // errno
};
// False: a session that was asked to end has a thread that is about it and does not get on, as a
// debugger holds it. After at most half a second. Normal context.
bool has_earlier_ended();
// Begins a session in a process that has run for a while, in which an earlier one has ended. Its
// threads are not sampled yet. What went wrong later is in the control page.
Beginning begin_attached(const Settings& settings);

// Ends the session, if there is one, as a tick would. False: a tick that is about to do that does
// not get on. Normal context.
bool end_session();

// Code may have been unloaded: what is known of it is forgotten. Normal context: takes the lock of
// dl_iterate_phdr(3).
void forget_unloaded();
// Ends recording for good, because from here on the kernel may end the program for a system call
// of ours: afterwards none is made. Nothing in a child of fork or vfork. Normal context.
void end_before_confinement();
// The calling thread's slot, which it gets now if its first tick was to give it. Null: it is not
// sampled. Any context.
Thread* calling_thread();
// The calling thread, whose slot it is, gets the clock that it was not given because it blocked
// SIGPROF, if it does not any more. Any context.
void start_parked_clock(Thread& thread);
// Makes the calling thread, whose slot it is, a sampled one until it ends. Slot fields tid, stack
// are filled by the caller.
void begin_thread(Thread& thread);

}  // namespace gnomon::collector
