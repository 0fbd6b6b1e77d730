// The machine's CLOCK_MONOTONIC, from within any time namespace. Normal context.
#pragma once
#include <cstdint>

namespace gnomon::collector {

// From now on now(CLOCK_MONOTONIC) is the machine's. To be called before anything is timed; opens a
// file in a time namespace alone. If /proc is not there, the two clocks are taken to be the same.
void adopt_machine_time();

// Returns what `offsets`, the text of /proc/PID/timens_offsets, says of CLOCK_MONOTONIC, ns; 0:
// nothing.
std::int64_t monotonic_ahead_in(const char* offsets);

}  // namespace gnomon::collector
