// x86-64 registers: the numbers DWARF gives them and the order the kernel saves them in. Any
// context.
#pragma once
#include <cstdint>

namespace gnomon::collector {

// Numbers of the x86-64 psABI, figure 3.36 ("DWARF Register Number Mapping").
using DwarfRegister = std::uint32_t;
inline constexpr DwarfRegister kRbx = 3, kRbp = 6, kRsp = 7, kR12 = 12, kR15 = 15,
                               kReturnAddress = 16;
inline constexpr DwarfRegister kNoRegister = 255;

// mcontext_t's gregs (struct sigcontext of the kernel), in 64-bit words.
inline constexpr std::uint32_t kSavedRbp = 10, kSavedRsp = 15, kSavedRip = 16, kSavedCount = 17;
// Where a DWARF register stands among them.
inline constexpr std::uint8_t kSavedIndex[kSavedCount] = {13, 12, 14, 11, 9, 8, 10, 15, 0,
                                                          1,  2,  3,  4,  5, 6, 7,  16};
// Offset of gregs in the ucontext_t of a signal frame.
inline constexpr std::int64_t kSavedOffset = 40;

// A call keeps these, so a caller's rule may rely on them.
inline constexpr bool is_callee_saved(DwarfRegister reg) {
  return reg == kRbx || reg == kRbp || (reg >= kR12 && reg <= kR15);
}

}  // namespace gnomon::collector
