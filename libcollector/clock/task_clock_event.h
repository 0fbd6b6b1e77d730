// A perf event on a thread's CPU clock, which ticks at true intervals. Signal handlers too.
#pragma once
#include <cstdint>

namespace gnomon::collector {

// True if the kernel gives this process events that tick in system calls as well. One that may not
// would give their time to whatever runs next.
bool has_task_clock_events();
// For the calling thread: a SIGPROF every `interval` ns of its CPU time, the first after one
// interval. The descriptors of a program are its own: the event lives by the mapping of its page,
// and needs one for a moment only. Null: refused, or no room for it.
void* open_task_clock(std::uint64_t interval);
// Afterwards none of its signals is pending.
void close_task_clock(void* page);
// The numbers that events have had in this process: signals of these descriptors are ours.
bool is_event_descriptor(std::int32_t descriptor);

}  // namespace gnomon::collector
