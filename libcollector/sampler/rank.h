// What share of the CPUs gnomon-sampler gets. In gnomon-sampler.
#pragma once
#include <sys/types.h>

namespace gnomon::sampler {

// Gives this program at least the recorded process's rank, as far as it may: a program that ranks
// above it leaves it no CPU, and then the kernel's rings overflow. To be called in the session that
// this program stays in: the scheduler gives shares to sessions (sched(7), "The autogroup
// feature"), and a new session's is of nice 0, whatever its processes' own nice values are.
void rank_like(pid_t recorded);

}  // namespace gnomon::sampler
