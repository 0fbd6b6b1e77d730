// Where the stacks of threads lie that were not made under our eyes.
#pragma once
#include <cstdint>

#include "libcollector/core/byte_range.h"

namespace gnomon::collector {

// The stack of the main thread, all of whose frames lie below `top`. Normal context.
ByteRange main_stack(std::uint64_t top);
// The same of a process that has run for a while; empty: not known. Normal context.
ByteRange main_stack();
// Memory that is nobody's stack, though a thread may stand on it. Normal context.
void note_borrowed(const ByteRange& memory);
// True if the calling thread does. Any context.
bool is_on_borrowed();
// Before running_stack. False: no memory, or /proc is not there. Normal context.
bool note_mappings();
// The stack of the calling thread, which existed at note_mappings; `main` is what main_stack says
// if this may be the main thread, else empty. Any context.
ByteRange running_stack(const ByteRange& main);

}  // namespace gnomon::collector
