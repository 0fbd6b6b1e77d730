// Alternate signal stacks: a thread whose own is too small for a tick is not sampled while it has
// it.
#pragma once

namespace gnomon::collector {

// Learns how much room a tick needs on a stack. Normal context.
void measure_ticks();

}  // namespace gnomon::collector
