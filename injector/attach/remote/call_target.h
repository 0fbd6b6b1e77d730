// Finds the function that a call instruction has called. Any thread; stops nothing.
#pragma once
#include <sys/types.h>

#include <cstdint>

namespace gnomon::injector {

// Returns the first address of the function that the call right before `returns_to` went to, also
// through a PLT or a pointer at a fixed place (-fno-plt). The function may have left by a tail
// call, so that it has no frame. Returns 0 if the call was by a register or cannot be read.
std::uint64_t called_function(pid_t pid, std::uint64_t returns_to);

}  // namespace gnomon::injector
