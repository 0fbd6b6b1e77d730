// Starts the clocks of the threads that run already when recording begins. On a thread that the
// injector made for it, with all signals blocked; other threads run.
#pragma once
#include "libcollector/format/attach.h"
#include "libcollector/record/recorder.h"

namespace gnomon::collector {

// Notes which threads have SIGPROF unblocked. To be called before SIGPROF is added to handlers'
// masks, to tell which threads block it on their own.
void note_open_tasks();
// Starts the clocks of all threads of this process but the calling one. Asks the injector to
// unblock SIGPROF where it stays blocked. Stores threads, blocking and refused in the request.
void sample_tasks(Recorder& recorder, format::AttachRequest& request);
// Marks what is known of all threads as outdated: until the next session begins they may have
// changed or ended.
void forget_tasks();
// Waits until the injector has changed the masks of the threads that the request lists. Returns
// false if the request was answered before.
bool ask_for_masks(format::AttachRequest& request);

}  // namespace gnomon::collector
