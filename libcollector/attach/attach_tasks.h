// The threads that run already when recording begins get their clocks. On a thread made for it by
// the injector, with all signals blocked; other threads run.
#pragma once
#include "libcollector/format/attach.h"
#include "libcollector/record/recorder.h"

namespace gnomon::collector {

// To be called before handlers are made to block SIGPROF: it is seen who does so of itself.
void note_open_tasks();
// Of this process: all but the calling one. Asks the injector to unblock SIGPROF where it stays
// blocked. Answers in the request: threads, blocking, refused.
void sample_tasks(Recorder& recorder, format::AttachRequest& request);
// Nothing is known of any by the time that another session begins, nor of one that has the number
// of one that ended.
void forget_tasks();
// Waits until the injector has changed the masks of the threads that the request lists. False: it
// was answered before.
bool ask_for_masks(format::AttachRequest& request);

}  // namespace gnomon::collector
