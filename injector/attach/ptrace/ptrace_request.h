// ptrace(2), whose addresses and data are numbers of many kinds. Any thread.
#pragma once
#include <sys/ptrace.h>
#include <sys/types.h>

#include <cstdint>

namespace gnomon::injector {

inline const void* number(std::uint64_t value) { return reinterpret_cast<const void*>(value); }

// user_regs_struct and the kernel's request numbers are what it takes as addresses and data.
inline long trace(int request, pid_t tid, std::uint64_t address, const void* data) {
  return ptrace(static_cast<__ptrace_request>(request), tid, reinterpret_cast<void*>(address),
                data);
}

}  // namespace gnomon::injector
