// DWARF expression operations, with the wrapping arithmetic of a 64-bit machine. Any context.
#include "libcollector/unwind/dwarf_operations.h"

namespace gnomon::collector {
namespace {

bool compare(std::uint8_t operation, std::int64_t a, std::int64_t b, std::int64_t& value) {
  switch (operation) {
    case kEq:
      value = a == b;
      return true;
    case kGe:
      value = a >= b;
      return true;
    case kGt:
      value = a > b;
      return true;
    case kLe:
      value = a <= b;
      return true;
    case kLt:
      value = a < b;
      return true;
    case kNe:
      value = a != b;
      return true;
    default:
      return false;
  }
}

bool shift(std::uint8_t operation, std::int64_t a, std::uint64_t by, std::int64_t& value) {
  const auto bits = static_cast<std::uint64_t>(a);
  switch (operation) {
    case kShl:
      value = by < 64 ? static_cast<std::int64_t>(bits << by) : 0;
      return true;
    case kShr:
      value = by < 64 ? static_cast<std::int64_t>(bits >> by) : 0;
      return true;
    case kShra:
      value = a >> (by < 64 ? by : 63);
      return true;
    default:
      return false;
  }
}

// Division of the least number by -1 would trap.
bool divide(std::uint8_t operation, std::int64_t a, std::int64_t b, std::int64_t& value) {
  if (b == 0) return false;
  if (operation == kDiv)
    value = b == -1 ? static_cast<std::int64_t>(-static_cast<std::uint64_t>(a)) : a / b;
  else
    value =
        static_cast<std::int64_t>(static_cast<std::uint64_t>(a) % static_cast<std::uint64_t>(b));
  return true;
}

}  // namespace

bool constant(std::uint8_t operation, ByteReader& reader, std::int64_t& value) {
  if (operation >= kLit0 && operation <= kLit31) {
    value = operation - kLit0;
    return true;
  }
  switch (operation) {
    case kConst1u:
      value = reader.read<std::uint8_t>();
      return true;
    case kConst1s:
      value = reader.read<std::int8_t>();  // NOLINT(bugprone-signed-char-misuse)
      return true;
    case kConst2u:
      value = reader.read<std::uint16_t>();
      return true;
    case kConst2s:
      value = reader.read<std::int16_t>();
      return true;
    case kConst4u:
      value = reader.read<std::uint32_t>();
      return true;
    case kConst4s:
      value = reader.read<std::int32_t>();
      return true;
    case kConst8u:
    case kConst8s:
      value = reader.read<std::int64_t>();
      return true;
    case kConstu:
      value = static_cast<std::int64_t>(reader.uleb());
      return true;
    case kConsts:
      value = reader.sleb();
      return true;
    default:
      return false;
  }
}

bool on_two(std::uint8_t operation, std::int64_t a, std::int64_t b, std::int64_t& value) {
  const auto left = static_cast<std::uint64_t>(a), right = static_cast<std::uint64_t>(b);
  switch (operation) {
    case kPlus:
      value = static_cast<std::int64_t>(left + right);
      return true;
    case kMinus:
      value = static_cast<std::int64_t>(left - right);
      return true;
    case kMul:
      value = static_cast<std::int64_t>(left * right);
      return true;
    case kAnd:
      value = a & b;
      return true;
    case kOr:
      value = a | b;
      return true;
    case kXor:
      value = a ^ b;
      return true;
    case kDiv:
    case kMod:
      return divide(operation, a, b, value);
    default:
      return shift(operation, a, right, value) || compare(operation, a, b, value);
  }
}

}  // namespace gnomon::collector
