// DWARF expression operations (DWARF 5, 2.5 and 7.7.1). Any context.
#pragma once
#include <cstdint>

#include "libcollector/unwind/byte_reader.h"

namespace gnomon::collector {

enum Operation : std::uint8_t {
  kAddr = 0x03,
  kDeref = 0x06,
  kConst1u = 0x08,
  kConst1s,
  kConst2u,
  kConst2s,
  kConst4u,
  kConst4s,
  kConst8u,
  kConst8s,
  kConstu,
  kConsts,
  kDup,
  kDrop,
  kOver,
  kPick,
  kSwap,
  kRot,
  kAbs = 0x19,
  kAnd,
  kDiv,
  kMinus,
  kMod,
  kMul,
  kNeg,
  kNot,
  kOr,
  kPlus,
  kPlusUconst,
  kShl,
  kShr,
  kShra,
  kXor,
  kBra,
  kEq,
  kGe,
  kGt,
  kLe,
  kLt,
  kNe,
  kSkip,
  kLit0,
  kLit31 = 0x4f,
  kBreg0 = 0x70,
  kBreg16 = 0x80,
  kBreg31 = 0x8f,
  kBregx = 0x92,
  kDerefSize = 0x94,
  kNothing = 0x96,
  kCallFrameCfa = 0x9c,
};

// Reads the operand of an operation that pushes a constant. Returns false if it is another one.
bool constant(std::uint8_t operation, ByteReader& reader, std::int64_t& value);

// Computes `a operation b`. Returns false if the operation does not take two operands, or divides
// by zero.
bool on_two(std::uint8_t operation, std::int64_t a, std::int64_t b, std::int64_t& value);

}  // namespace gnomon::collector
