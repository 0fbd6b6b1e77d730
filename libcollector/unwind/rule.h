// Unwind rule: where, at one pc, the caller's registers are. Any context.
#pragma once
#include <cstdint>

#include "libcollector/unwind/registers.h"

namespace gnomon::collector {

enum class RuleKind : std::uint8_t {
  empty,          // no rule: what a free cache slot reads as
  no_object,      // no load object contains this pc
  none,           // no unwind information for this pc
  damaged,        // information that cannot be read
  evaluated,      // what no other kind expresses: computed anew for each frame
  outermost,      // the return address is undefined: nobody called this frame
  signal_frame,   // the kernel's: all registers are in the ucontext the stack pointer points to
  from_sp,        // CFA = rsp + offset
  from_fp,        // CFA = rbp + offset
  from_register,  // CFA = reg + offset
  deref_sp,       // CFA = [rsp + offset] + addend
  deref_fp,       // CFA = [rbp + offset] + addend
  return_in_reg,  // CFA = rsp + offset, the return address is in reg
};

// The return address is at CFA - 8 unless the kind says otherwise.
struct Rule {
  RuleKind kind = RuleKind::none;
  DwarfRegister reg = 0;
  std::int64_t offset = 0, addend = 0;  // bytes
  // The caller's rbp: unchanged, at CFA - 8 * fp, or one of the two below.
  std::uint32_t fp = 0;
};
inline constexpr std::uint32_t kFpAtFp = 4094;  // at [rbp]: frames that realign the stack
inline constexpr std::uint32_t kFpLost = 4095;

// 32 bits: kind 4 | fp 12 | offset / 8, signed, 16; of these the two kinds with a
// register give 4 to it and the deref kinds 4 to addend / 8.
using PackedRule = std::uint32_t;

constexpr bool fits(std::int64_t bytes, unsigned bits) {
  const std::int64_t words = bytes / 8, half = std::int64_t{1} << (bits - 1);
  return bytes % 8 == 0 && words >= -half && words < half;
}

// What does not fit becomes `evaluated`.
constexpr PackedRule pack(const Rule& rule) {
  const auto head = [&](RuleKind kind) {
    return static_cast<PackedRule>(kind) << 28 | (rule.fp & 0xfff) << 16;
  };
  const auto words = [](std::int64_t bytes) { return static_cast<PackedRule>(bytes / 8); };
  switch (rule.kind) {
    case RuleKind::from_sp:
    case RuleKind::from_fp:
      if (!fits(rule.offset, 16)) break;
      return head(rule.kind) | (words(rule.offset) & 0xffff);
    case RuleKind::from_register:
    case RuleKind::return_in_reg:
      if (!fits(rule.offset, 12) || rule.reg > 15) break;
      return head(rule.kind) | rule.reg << 12 | (words(rule.offset) & 0xfff);
    case RuleKind::deref_sp:
    case RuleKind::deref_fp:
      if (!fits(rule.offset, 12) || !fits(rule.addend, 4)) break;
      return head(rule.kind) | (words(rule.addend) & 0xf) << 12 | (words(rule.offset) & 0xfff);
    default:
      return head(rule.kind);
  }
  return static_cast<PackedRule>(RuleKind::evaluated) << 28;
}

constexpr RuleKind kind_of(PackedRule rule) { return static_cast<RuleKind>(rule >> 28); }
constexpr std::uint32_t fp_of(PackedRule rule) { return rule >> 16 & 0xfff; }
constexpr DwarfRegister register_of(PackedRule rule) { return rule >> 12 & 0xf; }
// Bytes, of the kinds from_sp and from_fp.
constexpr std::int64_t offset_of(PackedRule rule) {
  return static_cast<std::int16_t>(rule & 0xffff) * std::int64_t{8};
}
// Bytes, of the kinds with a register and the deref kinds.
constexpr std::int64_t short_offset_of(PackedRule rule) {
  return (static_cast<std::int32_t>(rule << 20) >> 20) * std::int64_t{8};
}
// Bytes, of the deref kinds.
constexpr std::int64_t addend_of(PackedRule rule) {
  return (static_cast<std::int32_t>(rule << 16) >> 28) * std::int64_t{8};
}

}  // namespace gnomon::collector
