// The clock by which experiments count time. Any thread.
#pragma once
#include <time.h>

#include <cstdint>

namespace gnomon {

// CLOCK_MONOTONIC, ns.
inline std::uint64_t monotonic_now() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 +
         static_cast<std::uint64_t>(time.tv_nsec);
}

}  // namespace gnomon
