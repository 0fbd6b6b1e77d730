// Which ticks of the clock came while the processor reported a hit of a watch: the thread stood at
// the accessing instruction, or behind it, and did nothing of its own. In gnomon-sampler.
#pragma once
#include <algorithm>
#include <cstdint>
#include <unordered_map>

#include "libcollector/outside/record.h"
#include "libcollector/unwind/registers.h"

namespace gnomon::outside {

class WatchHits {
 public:
  // The sample of a hit. cost: how long a hit holds its thread, ns; 0: not known.
  void note(const Sample& hit, std::uint64_t cost) {
    if (!hit.has_registers) return;
    const std::uint64_t longest = 2 * std::max(cost, kUsual);
    latest_[hit.origin.thread] = {hit.registers[collector::kSavedRip], hit.origin.time,
                                  hit.origin.time + longest};
  }
  // The kernel takes a tick's sample on its way back to the program, which the hit has delayed.
  bool holds(const Sample& tick) const {
    const auto at = latest_.find(tick.origin.thread);
    return at != latest_.end() && tick.has_registers &&
           tick.registers[collector::kSavedRip] == at->second.place &&
           tick.origin.time >= at->second.begin && tick.origin.time <= at->second.end;
  }
  void on_thread_end(std::uint32_t thread) { latest_.erase(thread); }

 private:
  static constexpr std::uint64_t kUsual = 10'000;  // ns
  struct Hit {
    std::uint64_t place;       // where the thread goes on
    std::uint64_t begin, end;  // a tick of this time is in it
  };
  std::unordered_map<std::uint32_t, Hit> latest_;  // by thread
};

}  // namespace gnomon::outside
