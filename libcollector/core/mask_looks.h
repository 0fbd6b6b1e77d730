// Looks at the mask of a thread that runs. A wait for signals, sigtimedwait(2), takes what it waits
// for out of the mask until it ends; of one that ends again and again without sleeping some looks
// show the wait's mask and some the thread's own. Any context.
#pragma once
#include <cstdint>

namespace gnomon::collector {

struct MaskLooks {
  static constexpr std::uint32_t kEnough = 24;
  static constexpr std::uint64_t kApart = 4'000, kLong = 1'000'000;  // ns of the thread's CPU time

  std::uint32_t waits = 0;  // for anything, so far
  std::uint32_t count = 0;  // since it waited last
  std::uint64_t first_cpu = 0, last_cpu = 0;

  // SIGPROF was not blocked when the thread had waited `waited` times and run for `cpu` ns. False:
  // it has not run since the last look, and so this one says nothing new.
  bool add(std::uint32_t waited, std::uint64_t cpu) {
    if (count == 0 || waited != waits)
      *this = {waited, 0, cpu, cpu};
    else if (cpu < last_cpu + kApart)
      return false;
    last_cpu = cpu;
    ++count;
    return true;
  }

  // The mask seen is its own.
  bool are_enough() const { return count >= kEnough; }
  // A wait for signals runs for microseconds from one sleep to the next, mostly.
  bool show_long_run() const { return last_cpu >= first_cpu + kLong; }
};

}  // namespace gnomon::collector
