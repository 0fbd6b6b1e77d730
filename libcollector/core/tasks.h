// The threads of this process, as the kernel knows them. Normal context: raw system calls.
#pragma once
#include <cstdint>

namespace gnomon::collector {

// Calls visit(tid, data) for each thread that exists now. False: /proc is not there.
bool visit_tasks(void (*visit)(std::uint32_t tid, void* data), void* data);

}  // namespace gnomon::collector
