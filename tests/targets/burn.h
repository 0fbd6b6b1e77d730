// Computing for a given CPU time of the calling thread.
#pragma once
#include <time.h>

inline double cpu_time() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

[[gnu::noinline]] inline void burn(double seconds) {
  for (const double end = cpu_time() + seconds; cpu_time() < end;) asm volatile("");
}
