// Unwinder: the steps from a frame to its caller by unwind information. Any context, signal
// handlers too.
#include "libcollector/unwind/evaluate.h"
#include "libcollector/unwind/rule_maker.h"
#include "libcollector/unwind/unwinder.h"

namespace gnomon::collector {
namespace {

constexpr std::uint32_t kSwitches = 8;

std::uint64_t plus(std::uint64_t base, std::int64_t offset) {
  return base + static_cast<std::uint64_t>(offset);
}

}  // namespace

Unwinder::Step Unwinder::step(Cursor& at, PackedRule rule, Walk& walk) {
  Step done = Step::cut;
  switch (kind_of(rule)) {
    case RuleKind::outermost:
      return Step::outermost;
    case RuleKind::empty:
    case RuleKind::no_object:
    case RuleKind::none:
    case RuleKind::damaged:
      return Step::cut;
    case RuleKind::signal_frame:
      return step_over_signal(at, walk);
    case RuleKind::evaluated:
      done = step_evaluated(at, walk);
      break;
    default:
      done = step_by_rule(at, rule, walk);
  }
  if (done == Step::cut && at.missed() != kNoRegister) walk.wanted = at.missed();
  return done;
}

// Computes the canonical frame address (CFA): the stack pointer of the caller. Returns false if it
// cannot be computed.
bool Unwinder::cfa_of(Cursor& at, PackedRule rule, std::uint64_t& cfa) {
  switch (kind_of(rule)) {
    case RuleKind::from_sp:
      cfa = plus(at.sp(), offset_of(rule));
      return true;
    case RuleKind::from_fp:
      cfa = plus(at.fp(), offset_of(rule));
      return true;
    case RuleKind::return_in_reg:
      cfa = plus(at.sp(), short_offset_of(rule));
      return true;
    case RuleKind::from_register:
      if (!at.value_of(register_of(rule), cfa)) return false;
      cfa = plus(cfa, short_offset_of(rule));
      return true;
    default: {
      const std::uint64_t base = kind_of(rule) == RuleKind::deref_sp ? at.sp() : at.fp();
      if (!at.load(plus(base, short_offset_of(rule)), cfa)) return false;
      cfa = plus(cfa, addend_of(rule));
      return true;
    }
  }
}

Unwinder::Step Unwinder::step_by_rule(Cursor& at, PackedRule rule, Walk& walk) {
  std::uint64_t cfa = 0, caller = 0, fp = 0, kept = 0;
  if (!cfa_of(at, rule, cfa) || cfa < at.sp()) return Step::cut;
  if (kind_of(rule) == RuleKind::return_in_reg) {
    if (!at.interrupted() || !at.value_of(register_of(rule), caller)) return Step::cut;
  } else if (cfa < at.sp() + 8 || !at.load(cfa - 8, caller)) {
    return Step::cut;
  }
  if (!at.caller_fp(rule, cfa, fp)) return Step::cut;
  if (caller == 0) return Step::outermost;  // psABI 3.4.1: how a process may mark its first frame
  at.become(caller, cfa, fp, follow_kept(at, cfa, walk, kept));
  return Step::caller;
}

bool Unwinder::find_cfa(Cursor& at, const Row& row, std::uint64_t& cfa) {
  if (row.cfa_register == kNoRegister) return evaluate(row.cfa_expression, nullptr, at, cfa);
  if (!at.value_of(row.cfa_register, cfa)) return false;
  cfa = plus(cfa, row.cfa_offset);
  return true;
}

Unwinder::Step Unwinder::step_evaluated(Cursor& at, Walk& walk) {
  FrameTable table;
  Row row;
  std::uint64_t cfa = 0, caller = 0, fp = 0, kept = 0;
  if (!find_(at.code(), table) || !find_row(table, at.code(), walk.followed, row) ||
      !find_cfa(at, row, cfa))
    return Step::cut;
  if (row.return_address.kind == Place::undefined) return Step::outermost;
  if (row.return_address.kind == Place::same ||
      !at.caller_value(row.return_address, kReturnAddress, cfa, caller))
    return Step::cut;
  if (caller == 0) return Step::outermost;
  std::uint64_t sp = cfa;
  if (row.stack_pointer.kind != Place::same && !at.caller_value(row.stack_pointer, kRsp, cfa, sp))
    return Step::cut;
  if (!at.caller_value(row.fp, kRbp, cfa, fp)) fp = 0;
  const bool known =
      walk.followed != kNoRegister && at.caller_value(row.extra, walk.followed, cfa, kept);
  const bool same_stack = sp == at.sp() || at.is_outwards(sp);
  at.become(caller, sp, fp, known ? &kept : nullptr);
  if (row.signal_frame) at.set_exact();
  if (same_stack) return Step::caller;
  return walk.switches++ < kSwitches && at.enter_stack(walk.stacks) ? Step::caller : Step::cut;
}

// Returns the value that the followed register has in the caller, stored in `value`, or null if it
// is not known.
const std::uint64_t* Unwinder::follow_kept(Cursor& at, std::uint64_t cfa, const Walk& walk,
                                           std::uint64_t& value) const {
  FrameTable table;
  Row row;
  return walk.followed != kNoRegister && find_(at.code(), table) &&
                 find_row(table, at.code(), walk.followed, row) &&
                 at.caller_value(row.extra, walk.followed, cfa, value)
             ? &value
             : nullptr;
}

// From an alternate stack to the thread's own, to a coroutine's, or further out on the same one.
Unwinder::Step Unwinder::step_over_signal(Cursor& at, Walk& walk) {
  const std::uint64_t saved = at.sp() + kSavedOffset;
  std::uint64_t last = 0;
  if (!at.load(saved + 8ul * (kSavedCount - 1), last)) return Step::cut;
  const std::uint64_t* registers = at.words_at(saved);
  const bool same_stack = at.is_outwards(registers[kSavedRsp]);
  at.restore(registers);
  if (same_stack) return Step::caller;
  return walk.switches++ < kSwitches && at.enter_stack(walk.stacks) ? Step::caller : Step::cut;
}

}  // namespace gnomon::collector
