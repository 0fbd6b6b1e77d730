// Whether the processor's breakpoint registers work, and what a hit costs. In gnomon-sampler.
#pragma once
#include <cstdint>

namespace gnomon::outside {

struct BreakpointTrial {
  // false: a trial breakpoint reported no hit of its write. Some virtual machines accept
  // breakpoints and never report a hit.
  bool do_work = true;
  // How long a hit holds the thread, ns: with a sample and a copy of `kWatchStackBytes` of the
  // stack, and without. 0: not measured.
  std::uint64_t sampled = 0, counted = 0;
};
// Bytes of the stack that the sample of a hit contains.
inline constexpr std::uint32_t kWatchStackBytes = 2048;

// Tries it once.
const BreakpointTrial& breakpoint_trial();

}  // namespace gnomon::outside
