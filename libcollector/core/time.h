// Clocks in nanoseconds. Any context, signal handlers too: clock_gettime is async-signal-safe.
#pragma once
#include <time.h>

#include <cstdint>

namespace gnomon::collector {

inline constexpr std::uint64_t kSecond = 1'000'000'000;  // ns

inline std::uint64_t now(clockid_t clock) {
  timespec t{};
  clock_gettime(clock, &t);
  return static_cast<std::uint64_t>(t.tv_sec) * kSecond + static_cast<std::uint64_t>(t.tv_nsec);
}

inline timespec timespec_of(std::uint64_t ns) {
  return {static_cast<time_t>(ns / kSecond), static_cast<long>(ns % kSecond)};
}

// The CPU time of a thread of this process, as pthread_getcpuclockid(3) numbers its clock
// (linux/posix-timers.h).
inline clockid_t cpu_clock_of(std::uint32_t tid) {
  constexpr int kPerThread = 4, kScheduler = 2;
  return static_cast<clockid_t>(~tid << 3 | kPerThread | kScheduler);
}

}  // namespace gnomon::collector
