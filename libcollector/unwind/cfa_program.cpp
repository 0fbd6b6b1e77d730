// Call frame program: runs CIE and FDE instructions up to a pc (DWARF 5, 6.4.2). Any context; its
// stack need is about a kilobyte, because an alternate signal stack may be small.
#include "libcollector/unwind/cfa_program.h"

namespace gnomon::collector {
namespace {

constexpr unsigned kRemembered = 6;

enum Instruction : std::uint8_t {
  kNop = 0x00,
  kSetLoc,
  kAdvance1,
  kAdvance2,
  kAdvance4,
  kOffsetExtended,
  kRestoreExtended,
  kUndefined,
  kSameValue,
  kRegister,
  kRememberState,
  kRestoreState,
  kDefCfa,
  kDefCfaRegister,
  kDefCfaOffset,
  kDefCfaExpression,
  kExpression,
  kOffsetExtendedSf,
  kDefCfaSf,
  kDefCfaOffsetSf,
  kValOffset,
  kValOffsetSf,
  kValExpression,
  kGnuArgsSize = 0x2e,
  kGnuNegativeOffset,
  // The two high bits; the operand is in the low six.
  kAdvance = 0x40,
  kOffset = 0x80,
  kRestore = 0xc0,
};

class Program {
 public:
  Program(const FrameDescription& frame, DwarfRegister extra, Row& row)
      : frame_(frame), extra_(extra), row_(row) {}

  bool run(std::uint64_t pc) {
    const std::uint64_t forever = ~0ull;
    at_ = 0;
    if (!run(frame_.common, forever)) return false;
    initial_ = row_;
    at_ = frame_.code.begin;
    return run(frame_.instructions, pc);
  }

 private:
  bool run(ByteRange instructions, std::uint64_t pc) {
    for (ByteReader reader(instructions); !reader.done();) {
      const auto byte = reader.read<std::uint8_t>();
      std::uint64_t forward = 0;
      if (advances(byte, reader, forward)) {
        at_ += forward;
        if (at_ > pc) return reader.ok();
      } else if (!on_cfa(byte, reader) && !on_register(byte, reader)) {
        return false;
      }
      if (!reader.ok()) return false;
    }
    return true;
  }

  bool advances(std::uint8_t byte, ByteReader& reader, std::uint64_t& forward) const {
    if ((byte & 0xc0) == kAdvance) {
      forward = (byte & 0x3f) * frame_.code_align;
      return true;
    }
    switch (byte) {
      case kSetLoc:
        forward = reader.pointer(frame_.pointer_encoding, 0) - at_;
        return true;
      case kAdvance1:
        forward = reader.read<std::uint8_t>() * frame_.code_align;
        return true;
      case kAdvance2:
        forward = reader.read<std::uint16_t>() * frame_.code_align;
        return true;
      case kAdvance4:
        forward = reader.read<std::uint32_t>() * frame_.code_align;
        return true;
      default:
        return false;
    }
  }

  bool on_cfa(std::uint8_t byte, ByteReader& reader) {
    switch (byte) {
      case kNop:
        return true;
      case kDefCfa:
        row_.cfa_register = reg(reader);
        row_.cfa_offset = plain(reader);
        return true;
      case kDefCfaSf:
        row_.cfa_register = reg(reader);
        row_.cfa_offset = scaled(reader);
        return true;
      case kDefCfaRegister:
        row_.cfa_register = reg(reader);
        return true;
      case kDefCfaOffset:
        row_.cfa_offset = plain(reader);
        return true;
      case kDefCfaOffsetSf:
        row_.cfa_offset = scaled(reader);
        return true;
      case kDefCfaExpression:
        row_.cfa_register = kNoRegister;
        row_.cfa_expression = block(reader);
        return true;
      case kRememberState:
        if (depth_ == kRemembered) return false;
        remembered_[depth_++] = row_;
        return true;
      case kRestoreState:
        if (depth_ == 0) return false;
        row_ = remembered_[--depth_];
        return true;
      case kGnuArgsSize:
        reader.uleb();
        return true;
      default:
        return false;
    }
  }

  bool on_register(std::uint8_t byte, ByteReader& reader) {
    const auto low = static_cast<DwarfRegister>(byte & 0x3f);
    if ((byte & 0xc0) == kOffset) return set(low, {Place::at_cfa, unsigned_scaled(reader), {}, 0});
    if ((byte & 0xc0) == kRestore) return restore(low);
    const DwarfRegister which = reg(reader);
    switch (byte) {
      case kOffsetExtended:
        return set(which, {Place::at_cfa, unsigned_scaled(reader), {}, 0});
      case kOffsetExtendedSf:
        return set(which, {Place::at_cfa, scaled(reader), {}, 0});
      case kGnuNegativeOffset:
        return set(which, {Place::at_cfa, -unsigned_scaled(reader), {}, 0});
      case kRestoreExtended:
        return restore(which);
      case kUndefined:
        return set(which, {Place::undefined, 0, {}, 0});
      case kSameValue:
        return set(which, {Place::same, 0, {}, 0});
      case kExpression:
        return set(which, {Place::at_expression, 0, block(reader), 0});
      case kRegister:
        return set(which, {Place::in_register, 0, {}, reg(reader)});
      case kValOffset:
        return set(which, {Place::value_at_cfa, unsigned_scaled(reader), {}, 0});
      case kValOffsetSf:
        return set(which, {Place::value_at_cfa, scaled(reader), {}, 0});
      case kValExpression:
        return set(which, {Place::value_of_expression, 0, block(reader), 0});
      default:
        return false;
    }
  }

  Place* place_of(Row& row, DwarfRegister which) const {
    if (which == kRbp) return &row.fp;
    if (which == kRsp) return &row.stack_pointer;
    if (which == frame_.return_register) return &row.return_address;
    return which == extra_ ? &row.extra : nullptr;
  }

  bool set(DwarfRegister which, const Place& place) {
    if (Place* to = place_of(row_, which)) *to = place;
    return true;
  }

  bool restore(DwarfRegister which) {
    if (Place* to = place_of(row_, which)) *to = *place_of(initial_, which);
    return true;
  }

  static DwarfRegister reg(ByteReader& reader) {
    const std::uint64_t number = reader.uleb();
    return number < kNoRegister ? static_cast<DwarfRegister>(number) : kNoRegister;
  }
  static std::int64_t plain(ByteReader& reader) { return static_cast<std::int64_t>(reader.uleb()); }
  static std::int64_t product(std::int64_t a, std::int64_t b) {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
  }
  std::int64_t unsigned_scaled(ByteReader& reader) const {
    return product(plain(reader), frame_.data_align);
  }
  std::int64_t scaled(ByteReader& reader) const {
    return product(reader.sleb(), frame_.data_align);
  }
  static ByteRange block(ByteReader& reader) {
    const std::uint64_t size = reader.uleb();
    const std::uint64_t begin = reader.at();
    reader.skip(size);
    return reader.ok() ? ByteRange{begin, begin + size} : ByteRange{};
  }

  const FrameDescription& frame_;
  const DwarfRegister extra_;
  Row& row_;
  Row initial_;
  std::uint64_t at_ = 0;
  unsigned depth_ = 0;
  Row remembered_[kRemembered];
};

}  // namespace

bool row_at(const FrameDescription& frame, std::uint64_t pc, DwarfRegister extra, Row& row) {
  row = {};
  row.signal_frame = frame.signal_frame;
  return Program(frame, extra, row).run(pc);
}

}  // namespace gnomon::collector
