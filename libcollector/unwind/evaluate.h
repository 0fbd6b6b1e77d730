// DWARF expressions, evaluated on the registers and the stack of a frame. Any context.
#pragma once
#include <cstdint>

#include "libcollector/core/byte_range.h"

namespace gnomon::collector {

class Cursor;

// cfa: what the expression finds on its stack; null: nothing (DWARF 5, 6.4.2.2 and 6.4.2.3).
// Returns false if the expression is damaged, contains an unknown operation or reads what is not
// known.
bool evaluate(ByteRange expression, const std::uint64_t* cfa, Cursor& frame, std::uint64_t& value);

}  // namespace gnomon::collector
