// Where a thread leaves its CPU, if only some of its switches are sampled. In gnomon-sampler.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "libcollector/format/events.h"

namespace gnomon::outside {

struct WaitPlace {
  std::uint32_t stack = 0;  // 0: not known
  format::ThreadState state = format::ThreadState::blocked;
};

// Where only one switch of several is sampled, the other switches get the places of the sampled
// ones, in proportion to the time that the thread spent off a CPU after those.
class WaitPlaces {
 public:
  // A switch was sampled there, after which the thread was off its CPU for `time` ns.
  void add(const WaitPlace& place, std::uint64_t time);
  // Returns a place for a switch that was not sampled, with `time` likewise; nothing if none of the
  // thread's switches has been sampled.
  std::optional<WaitPlace> choose(std::uint64_t time);

 private:
  struct Known {
    WaitPlace place;
    double sampled = 0, given = 0;  // ns
  };
  std::vector<Known> known_;
  double sampled_ = 0, given_ = 0;  // in all
};

}  // namespace gnomon::outside
