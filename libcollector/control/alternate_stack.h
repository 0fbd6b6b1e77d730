// Alternate signal stacks: a thread whose own is too small for a tick is not sampled while it has
// it.
#pragma once

namespace gnomon::collector {

// Looks up what the interposed function stands before. Normal context.
void find_stack_functions();

}  // namespace gnomon::collector
