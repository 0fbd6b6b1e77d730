// Finds the stacks of threads that existed before the collector. The context stands at each
// function.
#pragma once
#include <cstdint>

#include "libcollector/core/byte_range.h"

namespace gnomon::collector {

// Returns the stack of the main thread, all of whose frames lie below `top`. Normal context.
ByteRange main_stack(std::uint64_t top);
// The same in a process that has run for a while; empty if it is not known. Normal context.
ByteRange main_stack();
// Maps 64 KiB below the caller's frame where nothing has been yet, so that the kernel's copies of
// the stack, which end at the first page that is missing, do not end within a frame that has not
// used all its memory. The kernel's page of zeros stands there until the program writes. Normal
// context.
void map_stack_ahead();
// Notes the injector's memory, on which a borrowed thread may stand and which is no thread's stack.
// Normal context.
void note_borrowed(const ByteRange& memory);
// Returns true if the calling thread stands on that memory. Any context.
bool is_on_borrowed();
// Reads the mappings for running_stack. Returns false if memory is short or /proc is not mounted.
// Normal context.
bool note_mappings();
// Returns the stack of the calling thread, which existed at note_mappings. main: main_stack()'s
// answer if this may be the main thread, else empty. Any context.
ByteRange running_stack(const ByteRange& main);

}  // namespace gnomon::collector
