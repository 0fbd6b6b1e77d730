// One frame of a walk: its registers, and the stack in which they point. Any context, signal
// handlers too.
#include "libcollector/unwind/cursor.h"

#include "libcollector/core/readable.h"
#include "libcollector/unwind/evaluate.h"

namespace gnomon::collector {
namespace {

constexpr std::uint64_t kPage = 4096;
// How much of a foreign stack one load may find mapped.
constexpr std::uint64_t kReach = 64 * kPage;

}  // namespace

void Cursor::restore(const std::uint64_t* saved) {
  saved_ = saved;
  pc_ = saved[kSavedRip];
  sp_ = saved[kSavedRsp];
  fp_ = saved[kSavedRbp];
  exact_ = true;
}

void Cursor::become(std::uint64_t pc, std::uint64_t sp, std::uint64_t fp,
                    const std::uint64_t* kept) {
  saved_ = nullptr;
  pc_ = pc;
  sp_ = sp;
  fp_ = fp;
  exact_ = false;
  kept_known_ = kept != nullptr;
  if (kept) kept_ = *kept;
}

bool Cursor::enter_stack(const ThreadStacks& stacks) {
  foreign_ = false;
  shift_ = stacks.shift;
  stack_ = stacks.own.contains(sp_) ? stacks.own : stacks.alternate;
  if (stack_.contains(sp_)) return true;
  if (shift_ != 0) {
    beyond_copy_ = true;
    return false;
  }
  const std::uint64_t page = sp_ & ~(kPage - 1);
  if (sp_ >> 47 != 0 || !can_be_read(page)) return false;
  foreign_ = true;
  stack_ = {page, page + kPage};
  return true;
}

// Pages are tested, because nobody tells where a foreign stack ends. The thread runs on it, so that
// it stays mapped.
bool Cursor::reach(std::uint64_t end) {
  if (end <= stack_.end) return true;
  if (shift_ != 0) beyond_copy_ = true;
  if (!foreign_ || end - stack_.end > kReach) return false;
  for (; stack_.end < end; stack_.end += kPage)
    if (!can_be_read(stack_.end)) return false;
  return true;
}

bool Cursor::load(std::uint64_t address, std::uint64_t& value) {
  const bool red_zone = saved_ && sp_ - stack_.begin >= kRedZone;
  const std::uint64_t lowest = red_zone ? sp_ - kRedZone : sp_;
  if (address < lowest || address % 8 != 0 || address > ~std::uint64_t{7} - 8 ||
      !reach(address + 8))
    return false;
  value = *words_at(address);
  return true;
}

bool Cursor::value_of(DwarfRegister reg, std::uint64_t& value) {
  if (reg == kReturnAddress || reg == kRsp || reg == kRbp) {
    value = reg == kRsp ? sp_ : reg == kRbp ? fp_ : pc_;
    return true;
  }
  if (saved_ && reg < kSavedCount) {
    value = saved_[kSavedIndex[reg]];
    return true;
  }
  value = kept_;
  if (reg == followed_ && kept_known_) return true;
  if (is_callee_saved(reg) && followed_ == kNoRegister) missed_ = reg;
  return false;
}

bool Cursor::caller_value(const Place& place, DwarfRegister reg, std::uint64_t cfa,
                          std::uint64_t& value) {
  std::uint64_t address = cfa + static_cast<std::uint64_t>(place.offset);
  switch (place.kind) {
    case Place::undefined:
      return false;
    case Place::same:
      return value_of(reg, value);
    case Place::in_register:
      return value_of(place.reg, value);
    case Place::value_at_cfa:
      value = address;
      return true;
    case Place::value_of_expression:
      return evaluate(place.expression, &cfa, *this, value);
    case Place::at_expression:
      if (!evaluate(place.expression, &cfa, *this, address)) return false;
      break;
    case Place::at_cfa:
      break;
  }
  // In an epilogue compilers leave the rule as it was after the register was restored: then its
  // place is below the stack pointer already.
  const bool restored = saved_ && address < sp_ && is_callee_saved(reg);
  return restored ? value_of(reg, value) : load(address, value);
}

// In an epilogue the place of rbp is below the stack pointer, as in caller_value; where rbp itself
// points to its place, rbp then points out of the frame.
bool Cursor::caller_fp(PackedRule rule, std::uint64_t cfa, std::uint64_t& value) {
  const std::uint32_t place = fp_of(rule);
  value = place == kFpLost ? 0 : fp_;
  if (place == 0 || place == kFpLost) return true;
  const std::uint64_t address = place == kFpAtFp ? fp_ : cfa - 8ull * place;
  const bool restored = address < sp_ || address >= cfa;
  return restored ? saved_ != nullptr : load(address, value);
}

}  // namespace gnomon::collector
