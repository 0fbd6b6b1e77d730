// Computing for a given CPU time of the calling thread.
#pragma once
#include <time.h>

inline double cpu_time() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

// Looks at its clock seldom: a thread that reads its CPU clock all the time misses ticks of its
// timer on a crowded CPU.
[[gnu::noinline]] inline void burn(double seconds) {
  for (const double end = cpu_time() + seconds; cpu_time() < end;)
    for (int i = 0; i < 20'000; ++i) asm volatile("");
}
