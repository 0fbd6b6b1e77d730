// Where a thread leaves its CPU, of which only some times are known. In gnomon-sampler.
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

// Only every so manieth switch of a thread is sampled. The others get the places of the sampled
// ones, in proportion to the time that was spent in those.
class WaitPlaces {
 public:
  // time: ns that a sampled switch was the beginning of.
  void add(const WaitPlace& place, std::uint64_t time);
  // Returns the place for a time that is not known of; nothing: no switch was sampled.
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
