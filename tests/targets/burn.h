// Computing for a given CPU time of the calling thread.
#pragma once
#include <time.h>

inline double cpu_time() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

// Looks at its clock a few times only: a thread that reads its CPU clock ends its time slice by that
// on a crowded CPU, always before the kernel's tick, at which its timer would expire.
[[gnu::noinline]] inline void burn(double seconds) {
  double at = cpu_time();
  const double end = at + seconds;
  for (long count = 20'000; at < end;) {
    const double before = at;
    for (long i = 0; i < count; ++i) asm volatile("");
    at = cpu_time();
    const double rest = 0.8 * static_cast<double>(count) * (end - at) / (at - before);
    count = rest > 20'000 ? static_cast<long>(rest) : 20'000;
  }
}
