// How much of the stack is copied with each sample. In gnomon-sampler.
#include "libcollector/outside/copy_size.h"

#include <algorithm>
#include <bit>

namespace gnomon::outside {
namespace {

// The kernel copies 65 528 bytes at most: a record has 64 KiB.
constexpr std::uint32_t kLeast = 2048, kUnknown = 8192, kMost = 65528;  // bytes

// Copies of 64 KiB so often cost 0.3 % of a CPU.
constexpr std::uint64_t kSeldom = 4'000'000;  // ns

// How long nobody may come to empty a ring, ns: usually, and on a busy machine.
constexpr std::uint64_t kAside = 30'000'000, kLongAside = 120'000'000;

// Returns what samples with so much fill in a ring meanwhile.
std::size_t filled(std::uint64_t period, std::uint32_t bytes, std::uint64_t aside) {
  constexpr std::uint64_t kRest = 256;  // bytes of a sample besides the copy
  return (aside / period + 1) * (bytes + kRest);
}

std::uint32_t first_size(std::uint64_t period, std::size_t ring) {
  if (period == 0) return kUnknown;
  std::uint32_t bytes = kMost;
  const auto is_held = [&] {
    return bytes > kUnknown ? filled(period, bytes, kLongAside) <= ring
                            : filled(period, bytes, kAside) <= ring / 2;
  };
  while (bytes > kLeast && !is_held()) bytes = std::bit_floor(bytes - 1);
  return bytes;
}

bool is_more_than_one_in_a_thousand(std::uint64_t part, std::uint64_t whole) {
  return part * 1000 > whole;
}

}  // namespace

CopySize::CopySize(std::uint64_t period, std::size_t ring)
    : period_(period), ring_(ring), bytes_(first_size(period, ring)) {}

// Once: a program that comes to call deeper later has its size grow again.
bool CopySize::fit() {
  constexpr std::uint64_t kShown = 500'000'000;  // ns
  if (is_fitted_ || period_ >= kSeldom || samples_ < kShown / period_) return false;
  is_fitted_ = true;
  const std::uint64_t fitting = std::max<std::uint64_t>(std::bit_ceil(2 * used_), kUnknown);
  if (fitting >= bytes_) return false;
  bytes_ = static_cast<std::uint32_t>(fitting);
  return true;
}

bool CopySize::adapt(const Seen& seen) {
  if (seen.lost != 0 && is_more_than_one_in_a_thousand(seen.lost, seen.samples)) {
    is_final_ = true;
    if (bytes_ == kLeast) return false;
    bytes_ = std::bit_floor(bytes_ - 1);
    return true;
  }
  samples_ += seen.samples;
  used_ = std::max(used_, seen.used);
  if (is_final_) return false;
  if (!is_more_than_one_in_a_thousand(seen.cut, seen.samples)) return fit();
  if (bytes_ == kMost) return false;
  const std::uint32_t more = std::min(2 * bytes_, kMost);
  if (filled(period_, more, kAside) > ring_ / 8 * 5) return false;
  bytes_ = more;
  return true;
}

}  // namespace gnomon::outside
