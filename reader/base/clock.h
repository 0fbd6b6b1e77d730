// The clock by which experiments count time. Any thread.
#pragma once
#include <cstdint>

namespace gnomon {

// The machine's CLOCK_MONOTONIC, ns, also in a time namespace (time_namespaces(7)).
std::uint64_t monotonic_now();

}  // namespace gnomon
