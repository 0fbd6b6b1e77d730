// Clocks in nanoseconds. Any context, signal handlers too: clock_gettime is async-signal-safe.
#pragma once
#include <time.h>

#include <cstdint>

namespace gnomon::collector {

inline constexpr std::uint64_t kSecond = 1'000'000'000;  // ns

// By how much this process's CLOCK_MONOTONIC is ahead of the machine's, ns: not 0 in a time
// namespace (time_namespaces(7)). See machine_time.h.
inline constinit std::int64_t monotonic_ahead = 0;

// CLOCK_MONOTONIC is the machine's, so that gnomon-sampler, the recorded process and the kernel's
// records mean the same moment by a number.
inline std::uint64_t now(clockid_t clock) {
  timespec t{};
  clock_gettime(clock, &t);
  const std::uint64_t at =
      static_cast<std::uint64_t>(t.tv_sec) * kSecond + static_cast<std::uint64_t>(t.tv_nsec);
  return clock == CLOCK_MONOTONIC ? at - static_cast<std::uint64_t>(monotonic_ahead) : at;
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
