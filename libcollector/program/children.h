// Child processes that the program starts. Normal context; fork also in signal handlers.
#pragma once
#include <cstdint>

namespace gnomon::collector {

// Counts a child that was, or is about to be, started. Does nothing in a child of fork or vfork.
void count_child();
// To be called before clone(2) with those flags. on_own_stack: the child goes on where its parent
// stands.
void before_clone(std::uint64_t flags, bool on_own_stack);

}  // namespace gnomon::collector
