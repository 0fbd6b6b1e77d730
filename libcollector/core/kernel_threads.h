// Lists and awaits the threads of this process by /proc. Normal context: raw system calls.
#pragma once
#include <cstdint>

namespace gnomon::collector {

// Calls visit(tid, data) for each thread that exists now, within with_own_descriptors(). Returns
// false if /proc is not mounted or memory is short.
bool visit_tasks(void (*visit)(std::uint32_t tid, void* data), void* data);
// Where SIGPROF is pending, blocked: at a thread, or at the process.
struct Pending {
  bool at_thread, at_process;
};
Pending pending_sigprof();
// Waits until no tracer can hold a signal any more that it has yet to deliver: each thread has been
// seen asleep or has run since. The calling thread and those for which is_exempt(tid, data) is true
// do not count. Returns false if that takes longer than `patience`, ns.
bool await_handed_signals(bool (*is_exempt)(std::uint32_t tid, const void* data), const void* data,
                          std::uint64_t patience);

}  // namespace gnomon::collector
