// Where threads have waited, as they themselves have told. In gnomon-sampler.
#include "libcollector/outside/called_waits.h"

#include <algorithm>
#include <array>

namespace gnomon::outside {

// Intervals may be asked for again, but not for long.
std::optional<WaitPlace> CalledWaits::find(std::uint32_t thread, std::uint32_t number,
                                           std::uint64_t begin, std::uint64_t end) {
  if (!is_open_) return std::nullopt;
  Thread& known = threads_[thread];
  std::array<format::LongWait, format::LongWaits::kKept> fresh{};
  const std::uint32_t count = waits_.take(number, known.seen, fresh);
  known.waits.insert(known.waits.end(), fresh.begin(), fresh.begin() + count);
  constexpr std::uint64_t kKept = 5'000'000'000;  // ns
  std::erase_if(known.waits,
                [&](const format::LongWait& each) { return each.end + kKept <= begin; });
  const auto found = std::find_if(
      known.waits.begin(), known.waits.end(),
      [&](const format::LongWait& each) { return each.begin < end && each.end > begin; });
  if (found == known.waits.end()) return std::nullopt;
  return WaitPlace{found->stack, static_cast<format::ThreadState>(found->state)};
}

}  // namespace gnomon::outside
