// Gives a process back everything that the collector has changed in it. Normal context.
#pragma once
#include "libcollector/format/attach.h"

namespace gnomon::collector {

// Ends the recording and restores SIGPROF's action, the masks of threads and handlers and the
// program's bindings to libc. released: everything is restored. still_holds_*: something could not
// be undone and depends on the rest, so everything stays in place and forwards calls. The library
// stays mapped in any case. The slots belong to threads of this process; other threads run.
format::Attached give_process_back(format::AttachRequest& request);

}  // namespace gnomon::collector
