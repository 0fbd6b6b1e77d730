// System calls without libc: no errno, no cancellation point. Any context, signal handlers too.
#pragma once
#include <sys/syscall.h>

#include <cstdint>

namespace gnomon::collector {

// Returns the kernel's answer: -errno on failure.
inline long raw_syscall(long number, long a = 0, long b = 0, long c = 0, long d = 0, long e = 0,
                        long f = 0) {
  long result;
  register long r10 asm("r10") = d;
  register long r8 asm("r8") = e;
  register long r9 asm("r9") = f;
  asm volatile("syscall"
               : "=a"(result)
               : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
               : "rcx", "r11", "memory");
  return result;
}

template <typename T>
long arg(T* pointer) {
  return static_cast<long>(reinterpret_cast<std::uintptr_t>(pointer));
}

}  // namespace gnomon::collector
