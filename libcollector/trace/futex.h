// Traced: waiting by the futex system call, by which C++20's atomics, latches and semaphores wait.
// Normal context.
#pragma once
#include <cstdint>

namespace gnomon::collector {

using AnySyscall = long (*)(long, ...);

// The arguments of syscall(3) with SYS_futex. Returns null if that waits for nobody, or if waits
// are not traced.
AnySyscall traced_futex(AnySyscall real, unsigned long word, unsigned long operation);

}  // namespace gnomon::collector
