// The kernel's own sigaction(2), past libc and what stands before it. Any context.
#pragma once
#include <signal.h>

#include <cstdint>

#include "libcollector/core/syscall.h"

namespace gnomon::collector {

constexpr std::size_t kSignalMaskBytes = 8;  // the kernel's sigset_t
constexpr std::uint64_t signal_bit(int signal) { return 1ull << (signal - 1); }

// The kernel's struct sigaction; all 0: SIG_DFL.
struct KernelAction {
  std::uint64_t handler, flags, restorer, mask;
  bool operator==(const KernelAction&) const = default;
};

inline KernelAction kernel_action(int signal) {
  KernelAction is{};
  raw_syscall(SYS_rt_sigaction, signal, 0, arg(&is), kSignalMaskBytes);
  return is;
}

// What it was.
inline KernelAction exchange_kernel_action(int signal, const KernelAction& fresh) {
  KernelAction was{};
  raw_syscall(SYS_rt_sigaction, signal, arg(&fresh), arg(&was), kSignalMaskBytes);
  return was;
}

// As long as it lives no handler runs in the calling thread.
class AllBlocked {
 public:
  AllBlocked() {
    const std::uint64_t all = ~0ull;
    raw_syscall(SYS_rt_sigprocmask, SIG_SETMASK, arg(&all), arg(&before_), kSignalMaskBytes);
  }
  ~AllBlocked() {
    raw_syscall(SYS_rt_sigprocmask, SIG_SETMASK, arg(&before_), 0, kSignalMaskBytes);
  }
  AllBlocked(const AllBlocked&) = delete;
  AllBlocked& operator=(const AllBlocked&) = delete;

 private:
  std::uint64_t before_ = 0;
};

}  // namespace gnomon::collector
