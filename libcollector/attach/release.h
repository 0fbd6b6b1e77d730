// What the collector has of a process goes back to it. Normal context.
#pragma once
#include "libcollector/format/attach.h"

namespace gnomon::collector {

// Ends the recording; then SIGPROF, the masks of threads and handlers and the calls of libc's
// functions are the program's as if we had never come: released. kept_...: what could not be undone
// needs the rest, so that all of it stays, and passes on what comes. The library stays in any case.
// The threads' slots are those of this process. Other threads run.
format::Attached give_process_back(format::AttachRequest& request);

}  // namespace gnomon::collector
