// Emulated signal masks: a thread that blocks SIGPROF is sampled all the same, and sees SIGPROF as
// blocked. Any context.
#pragma once
#include <signal.h>
#include <time.h>

#include <cstdint>

#include "libcollector/target/thread_slots.h"

namespace gnomon::collector {

// Turns a real block of SIGPROF into an emulated one in the calling thread, which has a slot now:
// threads may be made with every signal blocked (liblzma's are).
void adopt_mask();

// Returns the signals, as in the kernel's masks, that the calling thread blocks only in the
// program's view. They are blocked while a thread is created, so that the new thread inherits them.
std::uint64_t emulated_mask();

// Returns true if the program has a SIGPROF handler of its own, which must not run while SIGPROF is
// blocked.
bool program_catches_sigprof();

// may: whether blocking SIGPROF is emulated from now on (initially true) or really done.
void allow_mask_emulation(bool may);

// As pthread_sigmask(3), in the program's view.
int change_mask(int how, const sigset_t* set, sigset_t* old);

// rt_sigprocmask(2) and rt_sigtimedwait(2) through syscall(3). Any context.
long mask_by_number(long number, int how, const std::uint64_t* set, std::uint64_t* old,
                    std::size_t mask_bytes);
long timed_wait_by_number(long number, const std::uint64_t* set, siginfo_t* info,
                          const timespec* limit, std::size_t mask_bytes);

}  // namespace gnomon::collector
