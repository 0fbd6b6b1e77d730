// How much of the stack is copied with each sample. In gnomon-sampler.
#include "libcollector/outside/copy_size.h"

namespace gnomon::outside {
namespace {

constexpr std::uint32_t kLeast = 2048, kMost = 32768;  // bytes

std::uint32_t first_size(std::uint64_t period) {
  constexpr std::uint64_t kMillisecond = 1'000'000;
  if (period == 0) return 8192;
  if (period >= kMillisecond * 9 / 10) return 8192;
  return period > kMillisecond / 5 ? 4096 : kLeast;
}

bool is_more_than_one_in_a_thousand(std::uint64_t part, std::uint64_t whole) {
  return part * 1000 > whole;
}

}  // namespace

CopySize::CopySize(std::uint64_t period) : period_(period), bytes_(first_size(period)) {}

bool CopySize::adapt(const Seen& seen, std::size_t ring) {
  constexpr std::uint64_t kAside = 30'000'000;  // ns: for so long nobody may empty a ring
  constexpr std::uint64_t kRest = 256;          // bytes of a sample besides the copy
  if (seen.lost != 0 && is_more_than_one_in_a_thousand(seen.lost, seen.samples)) {
    is_final_ = true;
    if (bytes_ == kLeast) return false;
    bytes_ /= 2;
    return true;
  }
  if (is_final_ || bytes_ == kMost || !is_more_than_one_in_a_thousand(seen.cut, seen.samples))
    return false;
  const std::uint64_t samples = kAside / period_ + 1;
  if (samples * (2 * bytes_ + kRest) > ring / 2) return false;
  bytes_ *= 2;
  return true;
}

}  // namespace gnomon::outside
