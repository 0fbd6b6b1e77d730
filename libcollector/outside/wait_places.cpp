// Where a thread leaves its CPU, if only some of its switches are sampled. In gnomon-sampler.
#include "libcollector/outside/wait_places.h"

#include <algorithm>

namespace gnomon::outside {

// Times of long ago count less and less. When there are too many places, the one with the least
// time is replaced.
void WaitPlaces::add(const WaitPlace& place, std::uint64_t time) {
  constexpr double kRemembered = 1e10;  // ns
  constexpr std::size_t kMost = 32;
  auto found = std::find_if(known_.begin(), known_.end(), [&](const Known& each) {
    return each.place.stack == place.stack && each.place.state == place.state;
  });
  if (found == known_.end() && known_.size() == kMost) {
    found = std::min_element(known_.begin(), known_.end(),
                             [](const Known& a, const Known& b) { return a.sampled < b.sampled; });
    sampled_ -= found->sampled;
    given_ -= found->given;
    *found = {place};
  }
  if (found == known_.end()) found = known_.insert(found, {place});
  found->sampled += static_cast<double>(time);
  sampled_ += static_cast<double>(time);
  if (sampled_ < kRemembered) return;
  sampled_ /= 2;
  given_ /= 2;
  for (Known& each : known_) {
    each.sampled /= 2;
    each.given /= 2;
  }
}

// Returns the place that has been given least in proportion to its sampled time.
std::optional<WaitPlace> WaitPlaces::choose(std::uint64_t time) {
  if (sampled_ <= 0) return std::nullopt;
  given_ += static_cast<double>(time);
  const auto lack = [this](const Known& each) {
    return each.sampled / sampled_ * given_ - each.given;
  };
  const auto found =
      std::max_element(known_.begin(), known_.end(),
                       [&](const Known& a, const Known& b) { return lack(a) < lack(b); });
  found->given += static_cast<double>(time);
  return found->place;
}

}  // namespace gnomon::outside
