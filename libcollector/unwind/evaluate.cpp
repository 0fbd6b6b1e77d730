// DWARF expressions, evaluated on the registers and the stack of a frame (DWARF 5, 2.5). Any
// context; takes no lock and about half a kilobyte of stack.
#include "libcollector/unwind/evaluate.h"

#include "libcollector/unwind/cursor.h"
#include "libcollector/unwind/dwarf_operations.h"

namespace gnomon::collector {
namespace {

class Machine {
 public:
  Machine(ByteRange expression, const std::uint64_t* cfa, Cursor& frame)
      : expression_(expression), cfa_(cfa), frame_(frame) {}

  bool run(std::uint64_t& value) {
    if (cfa_) push(*cfa_);
    ByteReader reader(expression_);
    for (unsigned steps = 0; !reader.done(); ++steps) {
      if (steps == kSteps || !step(reader.read<std::uint8_t>(), reader) || !reader.ok())
        return false;
    }
    return reader.ok() && pop(value);
  }

 private:
  static constexpr unsigned kDepth = 32;
  static constexpr unsigned kSteps = 256;  // branches may go backwards

  bool push(std::uint64_t value) {
    if (depth_ == kDepth) return false;
    stack_[depth_++] = value;
    return true;
  }
  bool pop(std::uint64_t& value) {
    if (depth_ == 0) return false;
    value = stack_[--depth_];
    return true;
  }

  bool step(std::uint8_t operation, ByteReader& reader) {
    std::int64_t number = 0;
    if (constant(operation, reader, number)) return push(static_cast<std::uint64_t>(number));
    if (operation >= kBreg0 && operation <= kBreg31)
      return push_register(operation - kBreg0, reader);
    switch (operation) {
      case kAddr:
        return push(reader.read<std::uint64_t>());
      case kBregx:
        return push_register(reader.uleb(), reader);
      case kCallFrameCfa:
        return cfa_ && push(*cfa_);
      case kNothing:
        return true;
      case kSkip:
        return jump(reader, reader.read<std::int16_t>());
      case kBra:
        return branch(reader);
      default:
        return on_stack(operation, reader) || on_one(operation, reader) || combine(operation);
    }
  }

  bool push_register(std::uint64_t number, ByteReader& reader) {
    std::uint64_t value = 0;
    const auto offset = static_cast<std::uint64_t>(reader.sleb());
    return number <= kReturnAddress && frame_.value_of(static_cast<DwarfRegister>(number), value) &&
           push(value + offset);
  }

  bool jump(ByteReader& reader, std::int64_t bytes) const {
    const std::uint64_t to = reader.at() + static_cast<std::uint64_t>(bytes);
    if (!reader.ok() || to < expression_.begin || to > expression_.end) return false;
    reader = ByteReader({to, expression_.end});
    return true;
  }

  bool branch(ByteReader& reader) {
    std::uint64_t condition = 0;
    const auto bytes = reader.read<std::int16_t>();
    return pop(condition) && (condition == 0 || jump(reader, bytes));
  }

  // Copies the value that lies so many below the uppermost.
  bool pick(std::uint64_t below) { return below < depth_ && push(stack_[depth_ - 1 - below]); }

  bool on_stack(std::uint8_t operation, ByteReader& reader) {
    std::uint64_t dropped = 0;
    switch (operation) {
      case kDup:
        return pick(0);
      case kDrop:
        return pop(dropped);
      case kOver:
        return pick(1);
      case kPick:
        return pick(reader.read<std::uint8_t>());
      case kSwap:
        return rotate(2);
      case kRot:
        return rotate(3);
      default:
        return false;
    }
  }

  // The uppermost value goes below the others of the uppermost `count`.
  bool rotate(unsigned count) {
    if (depth_ < count) return false;
    const std::uint64_t top = stack_[depth_ - 1];
    for (unsigned i = depth_ - 1; i > depth_ - count; --i) stack_[i] = stack_[i - 1];
    stack_[depth_ - count] = top;
    return true;
  }

  bool on_one(std::uint8_t operation, ByteReader& reader) {
    if (depth_ == 0) return false;
    std::uint64_t& top = stack_[depth_ - 1];
    switch (operation) {
      case kDeref:
        return frame_.load(top, top);
      case kDerefSize:
        return load_bytes(reader.read<std::uint8_t>(), top);
      case kPlusUconst:
        top += reader.uleb();
        return true;
      case kNeg:
        top = -top;
        return true;
      case kNot:
        top = ~top;
        return true;
      case kAbs:
        if (static_cast<std::int64_t>(top) < 0) top = -top;
        return true;
      default:
        return false;
    }
  }

  // Of one aligned word.
  bool load_bytes(unsigned size, std::uint64_t& top) const {
    const auto offset = static_cast<unsigned>(top % 8);
    if (size == 0 || offset + size > 8 || !frame_.load(top - offset, top)) return false;
    top >>= 8 * offset;
    if (size < 8) top &= (1ull << 8 * size) - 1;
    return true;
  }

  bool combine(std::uint8_t operation) {
    if (depth_ < 2) return false;
    const auto a = static_cast<std::int64_t>(stack_[depth_ - 2]);
    const auto b = static_cast<std::int64_t>(stack_[depth_ - 1]);
    std::int64_t value = 0;
    if (!on_two(operation, a, b, value)) return false;
    stack_[--depth_ - 1] = static_cast<std::uint64_t>(value);
    return true;
  }

  const ByteRange expression_;
  const std::uint64_t* const cfa_;
  Cursor& frame_;
  unsigned depth_ = 0;
  std::uint64_t stack_[kDepth];
};

}  // namespace

bool evaluate(ByteRange expression, const std::uint64_t* cfa, Cursor& frame, std::uint64_t& value) {
  return Machine(expression, cfa, frame).run(value);
}

}  // namespace gnomon::collector
