// Clocks in nanoseconds. Any context, signal handlers too: clock_gettime is async-signal-safe.
#pragma once
#include <time.h>

#include <cstdint>

namespace gnomon::collector {

inline std::uint64_t now(clockid_t clock) {
  timespec t{};
  clock_gettime(clock, &t);
  return static_cast<std::uint64_t>(t.tv_sec) * 1'000'000'000 +
         static_cast<std::uint64_t>(t.tv_nsec);
}

inline timespec timespec_of(std::uint64_t ns) {
  return {static_cast<time_t>(ns / 1'000'000'000), static_cast<long>(ns % 1'000'000'000)};
}

}  // namespace gnomon::collector
