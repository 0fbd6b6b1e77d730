// Tells gnomon-sampler of calls that have waited long, where the kernel does not show it where
// threads wait, and why. In hooks: normal context, and signal handlers; no lock, no heap, no errno.
#pragma once
#include <cstdint>

#include "libcollector/format/events.h"
#include "libcollector/trace/trace.h"

namespace gnomon::collector {

inline constexpr std::uint64_t kLongCall = 1'000'000;  // ns
inline constinit bool tells_long_calls = false;

// From `since` to `until`, ns.
void tell_long_call(TracedCall& traced, std::uint64_t since, std::uint64_t until,
                    format::ThreadState state);
void tell_long_call(const Call& call, std::uint64_t since, std::uint64_t until,
                    format::ThreadState state);
inline bool is_to_tell(std::uint64_t since, std::uint64_t until) {
  return tells_long_calls && until - since >= kLongCall;
}

}  // namespace gnomon::collector
