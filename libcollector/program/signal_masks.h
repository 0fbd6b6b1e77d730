// Signal masks: a thread that blocks SIGPROF is sampled all the same. Any context.
#pragma once
#include <signal.h>

#include <cstdint>

#include "libcollector/core/thread_slots.h"

namespace gnomon::collector {

// The calling thread, now that it has a slot, is sampled even if it was made with every signal
// blocked (liblzma's are).
void adopt_mask();

// From here on the calling thread, which is about to lose its slot, blocks what the program
// believes it to block.
void apply_emulated_mask(const Thread& thread);

// The signals, as in the kernel's masks, that only the program believes this thread to block. A
// thread that it makes inherits them if they are blocked meanwhile.
std::uint64_t emulated_mask();

// A program with a handler of its own relies on it not running while SIGPROF is blocked.
bool program_catches_sigprof();

// False: who blocks SIGPROF from here on really does. At first: true.
void allow_mask_emulation(bool may);

// As pthread_sigmask(3), as far as the program can see.
int change_mask(int how, const sigset_t* set, sigset_t* old);

}  // namespace gnomon::collector
