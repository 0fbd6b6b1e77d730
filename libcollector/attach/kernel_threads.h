// The threads of this process, as the kernel knows them. Normal context: raw system calls.
#pragma once
#include <cstdint>

namespace gnomon::collector {

// Calls visit(tid, data) for each thread that exists now. False: /proc is not there.
bool visit_tasks(void (*visit)(std::uint32_t tid, void* data), void* data);
// A tracer may yet hand a thread a signal that it has taken from its queue: waits until each thread
// but the calling one, and but those of which `is_exempt` is true, waits by itself or has run
// since. False: one has not within `patience`, ns.
bool await_handed_signals(bool (*is_exempt)(std::uint32_t tid, const void* data), const void* data,
                          std::uint64_t patience);

}  // namespace gnomon::collector
