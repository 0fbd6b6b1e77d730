// The code of this process as its call stacks see it. The context stands at each function.
#pragma once
#include <cstdint>

#include "libcollector/record/recorder.h"
#include "libcollector/unwind/unwinder.h"

namespace gnomon::collector {

// Walks the stacks of this process's threads, once it has been opened.
inline constinit Unwinder own_unwinder;

// To be called for every frame that the stack table did not know: notes the load object of `pc`,
// and forgets rules of code that lay there before. Any context.
void note_fresh_frame(std::uint64_t pc, Recorder& to, Writer& writer);
// Forgets code that has been unloaded. Normal context: takes the lock of dl_iterate_phdr(3).
void forget_unloaded();

}  // namespace gnomon::collector
