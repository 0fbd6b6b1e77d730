// Tests whether the program's memory can be read, without a fault. Any context.
#pragma once
#include <cerrno>
#include <cstdint>

#include "libcollector/core/signal_action.h"
#include "libcollector/core/syscall.h"

namespace gnomon::collector {

// Returns true if the 8 bytes at `address` can be read: rt_sigprocmask(2) reads the set before it
// rejects the unknown `how`.
inline bool can_be_read(std::uint64_t address) {
  constexpr long kNothingKnown = 99;
  return raw_syscall(SYS_rt_sigprocmask, kNothingKnown, static_cast<long>(address), 0,
                     kSignalMaskBytes) == -EINVAL;
}

}  // namespace gnomon::collector
