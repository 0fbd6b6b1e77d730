// The session of this process: the experiment being written. Normal context.
#pragma once
#include "libcollector/hook/hook.h"
#include "libcollector/record/recorder.h"
#include "libcollector/record/settings.h"

namespace gnomon::collector {

// Returns the recorder while this process records; null otherwise and in a fork child.
Recorder* active_recorder();
// Returns the control page of this process; null while it does not record, and in any child, which
// may share this memory. Any context.
format::ControlPage* own_control();

// The hooks of calls that the session is to trace.
Families families_to_trace();

struct Beginning {
  Recorder* recorder;  // null: no experiment was begun, see `error`
  int error;           // errno
};
// Waits half a second at most for the end of the previous session. Returns false if the thread that
// is ending it cannot make progress because a debugger is holding it. Normal context.
bool has_earlier_ended();
// Begins a session in a process that has run for a while; an earlier session has ended. Its threads
// have no clocks yet. A failure after the experiment was made is in the control page.
Beginning begin_attached(const Settings& settings);

// Ends the session, if there is one, as a tick would. Returns false if a tick that is ending it
// makes no progress. Normal context.
bool end_session();

// Forgets code that has been unloaded. Normal context: takes the lock of dl_iterate_phdr(3).
void forget_unloaded();
// Takes a sample because the program, which is recorded, is about to execute another one. Normal
// context.
void sample_before_exec();
// Ends the recording for good because the program is about to restrict its system calls: the kernel
// might end it for one of the collector's, so none is made afterwards. Does nothing in a child of
// fork or vfork. Normal context.
void end_before_confinement();

}  // namespace gnomon::collector
