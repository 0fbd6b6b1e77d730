// The kernel's own sigaction(2): no libc function and no hook is called. Any context.
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

// Returns the previous action.
inline KernelAction exchange_kernel_action(int signal, const KernelAction& fresh) {
  KernelAction was{};
  raw_syscall(SYS_rt_sigaction, signal, arg(&fresh), arg(&was), kSignalMaskBytes);
  return was;
}

// Blocks `signals` in the calling thread's kernel mask for its own lifetime, then restores the
// mask.
class Blocked {
 public:
  explicit Blocked(std::uint64_t signals) : signals_(signals) {
    if (signals_ != 0)
      raw_syscall(SYS_rt_sigprocmask, SIG_BLOCK, arg(&signals_), arg(&before_), kSignalMaskBytes);
  }
  ~Blocked() {
    if (signals_ != 0)
      raw_syscall(SYS_rt_sigprocmask, SIG_SETMASK, arg(&before_), 0, kSignalMaskBytes);
  }
  Blocked(const Blocked&) = delete;
  Blocked& operator=(const Blocked&) = delete;

 private:
  std::uint64_t signals_, before_ = 0;
};
inline constexpr std::uint64_t kAllSignals = ~0ull;

}  // namespace gnomon::collector
