// Signal masks: a thread that blocks SIGPROF is sampled all the same. Any context.
#pragma once
#include <signal.h>

namespace gnomon::collector {

// Looks up what the interposed functions stand before. Normal context.
void find_mask_functions();

// The calling thread, now that it has a slot, is sampled even if it was made with every signal
// blocked (liblzma's are).
void adopt_mask();

// As pthread_sigmask(3), as far as the program can see.
int change_mask(int how, const sigset_t* set, sigset_t* old);

}  // namespace gnomon::collector
