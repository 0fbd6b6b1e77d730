// Alternate signal stacks: a thread whose alternate stack is too small for a tick is not sampled
// while it has that stack.
#pragma once

namespace gnomon::collector {

// Determines how many bytes of stack a tick needs. Normal context.
void measure_ticks();

}  // namespace gnomon::collector
