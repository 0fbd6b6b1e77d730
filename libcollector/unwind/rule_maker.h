// Rule maker: from a load object's frame table to the unwind rule of one pc. Any context; takes no
// lock.
#pragma once
#include <cstdint>

#include "libcollector/unwind/cfa_program.h"
#include "libcollector/unwind/frame_table.h"
#include "libcollector/unwind/rule.h"

namespace gnomon::collector {

// Never returns `empty` or `no_object`. pc: in the process that runs the code; for a caller, the
// last byte of its call instruction.
PackedRule make_rule(const FrameTable& table, std::uint64_t pc);

// Stores the row of the pc's frame. extra: a further register to follow, or kNoRegister. Returns
// false if there is none, or it is damaged.
bool find_row(const FrameTable& table, std::uint64_t pc, DwarfRegister extra, Row& row);

}  // namespace gnomon::collector
