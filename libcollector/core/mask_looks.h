// Tells whether a running thread's signal mask is its own. While a thread waits in sigtimedwait(2),
// the kernel takes the awaited signals out of its mask; of a thread that calls it over and over,
// some looks show the mask of the wait and some that of the thread. Any context.
#pragma once
#include <cstdint>

namespace gnomon::collector {

struct MaskLooks {
  static constexpr std::uint32_t kEnough = 24;
  static constexpr std::uint64_t kApart = 4'000, kLong = 1'000'000;  // ns of the thread's CPU time

  std::uint32_t waits = 0;  // how often the thread had waited for anything at the last look
  std::uint32_t count = 0;  // looks since it last waited
  std::uint64_t first_cpu = 0, last_cpu = 0;

  // Adds a look that found SIGPROF unblocked, when the thread had waited `waited` times and had
  // used `cpu` ns of CPU time. Returns false if the thread has not run since the last look, so that
  // this look says nothing new.
  bool add(std::uint32_t waited, std::uint64_t cpu) {
    if (count == 0 || waited != waits)
      *this = {waited, 0, cpu, cpu};
    else if (cpu < last_cpu + kApart)
      return false;
    last_cpu = cpu;
    ++count;
    return true;
  }

  // Returns true if the mask seen must be the thread's own.
  bool are_enough() const { return count >= kEnough; }
  // Returns true if the thread has run for long without a sleep: a wait for signals usually runs
  // for microseconds between two sleeps.
  bool show_long_run() const { return last_cpu >= first_cpu + kLong; }
};

}  // namespace gnomon::collector
