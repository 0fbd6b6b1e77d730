// Where threads of the program start. Any context.
#pragma once
#include "libcollector/target/thread_slots.h"
#include "libcollector/unwind/unwinder.h"

namespace gnomon::collector {

// Returns where main and the start routines of threads return to, as far as that is known, and the
// collector's own code. Of a program that runs already when the collector comes it stays unknown:
// all its threads have whole stacks, down to the code of libc that starts them.
const Roots& program_roots();

// Samples the calling thread, whose slot it is, until the thread ends. The caller has filled the
// slot's tid and stack.
void begin_sampled(Thread& thread);

}  // namespace gnomon::collector
