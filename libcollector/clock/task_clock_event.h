// A perf event on a thread's CPU clock, which ticks at exact intervals. Any context, signal
// handlers too.
#pragma once
#include <cstdint>

namespace gnomon::collector {

// Returns true if this process may open events that also tick inside system calls. An event that
// may not would charge their time to the code that runs next.
bool has_task_clock_events();
// Sends the calling thread a SIGPROF every `interval` ns of its CPU time, the first after one
// interval. The event lives by the mapping of its page; its descriptor is closed at once, because a
// program may use any number. Returns the page, or null if the kernel refuses.
void* open_task_clock(std::uint64_t interval);
// Closes the event. None of its signals is pending afterwards.
void close_task_clock(void* page);
// Returns true if an event of the collector has had this descriptor: a signal that names it is a
// tick.
bool is_event_descriptor(std::int32_t descriptor);

}  // namespace gnomon::collector
