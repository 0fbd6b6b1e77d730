// How a recording of this process begins, step by step. Normal context.
#pragma once
#include "libcollector/hook/hook.h"
#include "libcollector/objects/module_map.h"
#include "libcollector/record/recorder.h"
#include "libcollector/record/settings.h"

namespace gnomon::collector {

// The hooks of calls that the recording is to trace.
HookGroups groups_to_trace();

struct Beginning {
  Recorder* recorder;  // null: no experiment was begun, see `error`
  int error;           // errno
};
// Makes the experiment, with its header, and the process's own recorder; an earlier recording has
// ended. Nothing is left behind if it fails.
Beginning open_session(const Settings& settings, int argc, char** argv);
// Prepares everything but the clocks of threads; if gnomon-sampler may take the clock over, also
// but what its own would need. On failure returns false and stores the reason in the control page.
bool arm(Loaded loaded);
// Begins the recording of a program that is being launched, once the debugger has said so or let
// the time for that pass. Returns false, with the reason in the control page, if it cannot.
bool begin_launched();
// Begins a recording in a process that has run for a while; an earlier one has ended. Its threads
// have no clocks yet. A failure after the experiment was made is in the control page.
Beginning begin_attached(const Settings& settings);

}  // namespace gnomon::collector
