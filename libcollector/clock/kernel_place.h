// Tells where a tick found its thread. Any context.
#pragma once
#include <ucontext.h>

#include <cstdint>

namespace gnomon::collector {

// Returns true if the thread was in a system call when the signal came, or right behind one: the
// instruction `syscall` leaves its own end in rcx and the flags in r11 (Intel SDM 2, SYSCALL), and
// the kernel gives both back. A call that it restarts begins two bytes before that.
inline bool is_in_system_call(const ucontext_t& context) {
  constexpr std::uint64_t kLength = 2;
  const auto* const registers = context.uc_mcontext.gregs;
  const auto next = static_cast<std::uint64_t>(registers[REG_RCX]);
  const auto pc = static_cast<std::uint64_t>(registers[REG_RIP]);
  return (pc == next || pc + kLength == next) && registers[REG_R11] == registers[REG_EFL];
}

}  // namespace gnomon::collector
