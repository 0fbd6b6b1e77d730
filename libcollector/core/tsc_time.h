// CLOCK_MONOTONIC by the processor's time-stamp counter, which is read in less than half the time.
// Any context.
#pragma once
#include <cstdint>

#include "libcollector/core/atomic.h"
#include "libcollector/core/time.h"

namespace gnomon::collector {

// From when on which line translates the counter: time = ns + (counter - tsc) * rate / 2^32. Lines
// meet where one follows another, so that the order of two stamps is that of the counter,
// whichever thread took them.
struct TscLine {
  std::uint64_t tsc, ns, rate;
  std::uint64_t until;  // counter at which another line is due
};
inline constinit const TscLine* tsc_line = nullptr;  // null: the counter is not used

inline std::uint64_t translated(const TscLine& line, std::uint64_t tsc) {
  const auto since = static_cast<std::int64_t>(tsc - line.tsc);
  return line.ns + static_cast<std::uint64_t>(
                       static_cast<__int128>(since) * static_cast<std::int64_t>(line.rate) >> 32);
}

// From here on time goes on, by the counter if the kernel relies on it. Normal context.
void begin_hook_time();
// From here on time may stand still: hooks that go on without a recording ask the kernel nothing.
void end_hook_time();
// The time where no line is, or another one is due, which this function then draws: ns.
std::uint64_t time_and_next_line();

// ns. May be taken before an earlier instruction has ended.
inline std::uint64_t time_before() {
  const TscLine* line = atomic(tsc_line).load(std::memory_order_acquire);
  const std::uint64_t tsc = __builtin_ia32_rdtsc();
  return line && tsc < line->until ? translated(*line, tsc) : time_and_next_line();
}
// ns. Taken when every earlier load has ended (Intel SDM, volume 2, RDTSCP).
inline std::uint64_t time_after() {
  unsigned cpu = 0;
  const TscLine* line = atomic(tsc_line).load(std::memory_order_acquire);
  const std::uint64_t tsc = __builtin_ia32_rdtscp(&cpu);
  return line && tsc < line->until ? translated(*line, tsc) : time_and_next_line();
}

}  // namespace gnomon::collector
