// DWARF expressions, in the few shapes that call frame information uses. Any context.
#pragma once
#include <cstdint>

#include "libcollector/unwind/byte_reader.h"
#include "libcollector/unwind/registers.h"

namespace gnomon::collector {

// The value of an expression: `addend`, plus `reg + offset`, or plus the word at `reg + offset`.
struct Term {
  DwarfRegister reg = kNoRegister;  // kNoRegister: the addend alone
  bool deref = false;
  std::int64_t offset = 0;  // deref: inside the brackets
  std::int64_t addend = 0;
};

// pc: the value of register rip. Returns false if the expression has another shape.
bool reduce(ByteRange expression, std::uint64_t pc, Term& result);

}  // namespace gnomon::collector
