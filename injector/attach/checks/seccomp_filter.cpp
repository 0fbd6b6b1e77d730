// Computes what a seccomp filter would do to a system call, without making the call. Any thread.
#include "injector/attach/checks/seccomp_filter.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>

namespace gnomon::injector {
namespace {

constexpr std::uint32_t kRefused = SECCOMP_RET_KILL_PROCESS;

struct Machine {
  std::uint32_t a = 0, x = 0;
  std::array<std::uint32_t, BPF_MEMWORDS> memory{};
};

std::optional<std::uint32_t> computed(std::uint32_t operation, std::uint32_t a,
                                      std::uint32_t operand) {
  switch (operation) {
    case BPF_ADD:
      return a + operand;
    case BPF_SUB:
      return a - operand;
    case BPF_MUL:
      return a * operand;
    case BPF_DIV:
      return operand == 0 ? 0 : a / operand;
    case BPF_AND:
      return a & operand;
    case BPF_OR:
      return a | operand;
    case BPF_XOR:
      return a ^ operand;
    case BPF_LSH:
      return operand < 32 ? a << operand : 0;
    case BPF_RSH:
      return operand < 32 ? a >> operand : 0;
    case BPF_NEG:
      return 0 - a;
    default:
      return std::nullopt;
  }
}

std::optional<bool> holds(std::uint32_t condition, std::uint32_t a, std::uint32_t operand) {
  switch (condition) {
    case BPF_JEQ:
      return a == operand;
    case BPF_JGT:
      return a > operand;
    case BPF_JGE:
      return a >= operand;
    case BPF_JSET:
      return (a & operand) != 0;
    default:
      return std::nullopt;
  }
}

// A seccomp filter loads words of seccomp_data, constants and its own memory.
std::optional<std::uint32_t> loaded(const sock_filter& code, const Machine& machine,
                                    const seccomp_data& call) {
  std::uint32_t word = 0;
  switch (BPF_MODE(code.code)) {
    case BPF_IMM:
      return code.k;
    case BPF_MEM:
      if (code.k >= BPF_MEMWORDS) return std::nullopt;
      return machine.memory[code.k];
    case BPF_LEN:
      return std::uint32_t{sizeof call};
    case BPF_ABS:
      if (code.k % sizeof word != 0 || code.k > sizeof call - sizeof word) return std::nullopt;
      std::memcpy(&word, reinterpret_cast<const char*>(&call) + code.k, sizeof word);
      return word;
    default:
      return std::nullopt;
  }
}

bool put(std::optional<std::uint32_t> value, std::uint32_t& into) {
  if (value) into = *value;
  return value.has_value();
}

// Returns false for an unknown instruction.
bool step(const sock_filter& code, const seccomp_data& call, Machine& machine, std::size_t& at) {
  const std::uint32_t operand = BPF_SRC(code.code) == BPF_X ? machine.x : code.k;
  switch (BPF_CLASS(code.code)) {
    case BPF_LD:
      return put(loaded(code, machine, call), machine.a);
    case BPF_LDX:
      return put(loaded(code, machine, call), machine.x);
    case BPF_ST:
    case BPF_STX:
      if (code.k >= BPF_MEMWORDS) return false;
      machine.memory[code.k] = BPF_CLASS(code.code) == BPF_ST ? machine.a : machine.x;
      return true;
    case BPF_ALU:
      return put(computed(BPF_OP(code.code), machine.a, operand), machine.a);
    case BPF_JMP: {
      if (BPF_OP(code.code) == BPF_JA) return at += code.k, true;
      const auto taken = holds(BPF_OP(code.code), machine.a, operand);
      if (taken) at += *taken ? code.jt : code.jf;
      return taken.has_value();
    }
    case BPF_MISC:
      if (BPF_MISCOP(code.code) == BPF_TAX)
        machine.x = machine.a;
      else
        machine.a = machine.x;
      return true;
    default:
      return false;
  }
}

}  // namespace

// Terminates because jumps only go forwards.
std::uint32_t outcome(std::span<const sock_filter> filter, const seccomp_data& call) {
  Machine machine;
  for (std::size_t at = 0; at < filter.size(); ++at) {
    const sock_filter& code = filter[at];
    if (BPF_CLASS(code.code) == BPF_RET) return BPF_RVAL(code.code) == BPF_A ? machine.a : code.k;
    if (!step(code, call, machine, at)) return kRefused;
  }
  return kRefused;
}

// seccomp(2): actions are ordered as signed numbers; among equal ones the filter set last counts.
std::uint32_t outcome(std::span<const SeccompFilter> filters, const seccomp_data& call) {
  std::uint32_t strictest = SECCOMP_RET_ALLOW;
  const auto action = [](std::uint32_t value) {
    return static_cast<std::int32_t>(value & SECCOMP_RET_ACTION_FULL);
  };
  for (const SeccompFilter& filter : filters)
    if (const std::uint32_t value = outcome(filter, call); action(value) < action(strictest))
      strictest = value;
  return strictest;
}

}  // namespace gnomon::injector
