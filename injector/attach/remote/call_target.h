// Which function a call instruction has called. Any thread; stops nothing.
#pragma once
#include <sys/types.h>

#include <cstdint>

namespace gnomon::injector {

// The first address of the function that the call just before `returns_to` went to, also through a
// procedure linkage table or a pointer at a fixed place (-fno-plt). The function may have left by a
// jump, so that no frame of it is on the stack. 0: the call was by a register, or cannot be read.
std::uint64_t called_function(pid_t pid, std::uint64_t returns_to);

}  // namespace gnomon::injector
