// ptrace(2) with the types of its many requests. Any thread.
#pragma once
#include <sys/ptrace.h>
#include <sys/types.h>

#include <cstdint>

namespace gnomon::injector {

inline const void* number(std::uint64_t value) { return reinterpret_cast<const void*>(value); }

// Addresses and data are numbers or pointers, depending on the request.
inline long trace(int request, pid_t tid, std::uint64_t address, const void* data) {
  return ptrace(static_cast<__ptrace_request>(request), tid, reinterpret_cast<void*>(address),
                data);
}

}  // namespace gnomon::injector
