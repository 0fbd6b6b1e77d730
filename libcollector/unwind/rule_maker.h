// Rule maker: from a load object's frame table to the unwind rule of one pc. Any context; takes no
// lock.
#pragma once
#include <cstdint>

#include "libcollector/unwind/expression.h"
#include "libcollector/unwind/frame_table.h"
#include "libcollector/unwind/rule.h"

namespace gnomon::collector {

// Never returns `empty`. For a caller, pc is the last byte of its call instruction.
PackedRule make_rule(const FrameTable& table, std::uint64_t pc);

// Where the frame at pc keeps its caller's `reg`, a register that calls keep.
struct KeptRegister {
  enum Kind : std::uint8_t { same, at_cfa, at_term, lost } kind = lost;
  std::int64_t offset = 0;  // at_cfa: from the CFA, bytes
  Term term;                // at_term: its value is the address
};
KeptRegister find_kept(const FrameTable& table, std::uint64_t pc, DwarfRegister reg);

}  // namespace gnomon::collector
