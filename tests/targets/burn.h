// Computing for a given CPU time of the calling thread.
#pragma once
#include <time.h>

inline double cpu_time() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

// A thread that reads its CPU clock ends its time slice by that on a crowded CPU. That is always
// before a tick, at which its timer would expire. So the clock is read every 20 ms, which is five
// of the kernel's ticks, and more often at the end only.
[[gnu::noinline]] inline void burn(double seconds) {
  constexpr double kSeldom = 0.02;  // s
  constexpr long kFew = 20'000;
  double at = cpu_time();
  const double end = at + seconds;
  for (long count = kFew; at < end;) {
    const double before = at;
    for (long i = 0; i < count; ++i) asm volatile("");
    at = cpu_time();
    const double rest = 0.8 * (end - at), time = rest < kSeldom ? rest : kSeldom;
    const long more = static_cast<long>(static_cast<double>(count) * time / (at - before));
    count = more > kFew ? more : kFew;
  }
}
