// Child processes that the program starts. Normal context; fork also in signal handlers.
#pragma once

namespace gnomon::collector {

// Counts a child that was, or is about to be, started. Does nothing in a child of fork or vfork.
void count_child();

}  // namespace gnomon::collector
