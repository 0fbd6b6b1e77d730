// Call frame program: the row of an FDE's table that holds at one pc. Any context.
#pragma once
#include <cstdint>

#include "libcollector/unwind/frame_table.h"
#include "libcollector/unwind/registers.h"

namespace gnomon::collector {

// Where the caller's value of a register is, or what it is.
struct Place {
  enum Kind : std::uint8_t {
    same,
    undefined,
    at_cfa,
    at_expression,
    in_register,
    value_at_cfa,         // CFA + offset
    value_of_expression,  // the expression's value
  } kind = same;
  std::int64_t offset = 0;  // from the CFA, bytes
  ByteRange expression;     // at_expression: its value is the address
  DwarfRegister reg = 0;    // in_register
};

struct Row {
  DwarfRegister cfa_register = kNoRegister;  // kNoRegister: the CFA is cfa_expression
  std::int64_t cfa_offset = 0;
  ByteRange cfa_expression;
  Place fp, return_address, stack_pointer;
  Place extra;  // of the one further register asked for
  bool signal_frame = false;
};

// extra: a further register to follow, or kNoRegister. Returns false if the program is damaged or
// contains an unknown instruction.
bool row_at(const FrameDescription& frame, std::uint64_t pc, DwarfRegister extra, Row& row);

}  // namespace gnomon::collector
