// Unwinder: any context, signal handlers too: no lock, no heap, every load checked against the
// stack.
#include "libcollector/unwind/unwinder.h"

#include <sys/mman.h>

#include "libcollector/unwind/rule_maker.h"

namespace gnomon::collector {

// One frame: registers as they were when it was left.
struct Unwinder::Cursor {
  std::uint64_t pc, sp, fp;
  const std::uint64_t* saved;  // all registers, if a signal interrupted this frame; else null
  ByteRange stack;
  bool exact = false;  // pc is the next instruction, not a return address
  bool kept_known = false;
  std::uint64_t kept = 0;  // value of the register that is followed

  std::uint64_t code() const { return exact ? pc : pc - 1; }

  bool load(std::uint64_t address, std::uint64_t& value) const {
    if (address < sp || address % 8 != 0 || address > stack.end - 8) return false;
    value = *reinterpret_cast<const std::uint64_t*>(address);
    return true;
  }

  // In an epilogue compilers leave the rule as it was after rbp was restored: then its place is
  // below the stack pointer already, or, for a place that rbp itself points to, out of the frame.
  bool caller_fp(PackedRule rule, std::uint64_t cfa, std::uint64_t& value) const {
    const std::uint32_t place = fp_of(rule);
    value = place == kFpLost ? 0 : fp;
    if (place == 0 || place == kFpLost) return true;
    const std::uint64_t address = place == kFpAtFp ? fp : cfa - 8ull * place;
    const bool restored = address < sp || address >= cfa;
    return restored ? saved != nullptr : load(address, value);
  }
};

struct Unwinder::Walk {
  ByteRange thread_stack;
  std::uint64_t* frames;
  std::uint32_t max;
  DwarfRegister followed = kNoRegister;
  DwarfRegister wanted = kNoRegister;  // the walk ended because this one was not followed
};

namespace {

// The part of rule_at that runs once a pc.
PackedRule new_rule(FindTable find, std::uint64_t pc) {
  FrameTable table;
  return find(pc, table) ? make_rule(table, pc) : pack({RuleKind::none});
}

}  // namespace

bool Unwinder::open(FindTable find, const Roots& roots) {
  // Populated: in the handler a page fault costs more than the rule it stores.
  void* slots = mmap(nullptr, RuleCache::kBytes, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
  if (slots == MAP_FAILED) return false;
  cache_.open(slots);
  find_ = find;
  roots_ = roots;
  return true;
}

PackedRule Unwinder::rule_at(std::uint64_t pc) {
  if (pc >> 47 != 0) return pack({RuleKind::none});  // beyond user space
  PackedRule rule = cache_.find(pc);
  if (rule == 0) {
    rule = new_rule(find_, pc);
    cache_.put(pc, rule);
  }
  return rule;
}

Walked Unwinder::walk(const Interrupted& at, std::uint64_t* frames, std::uint32_t max) {
  Walk walk{at.stack, frames, max};
  Walked walked = walk_once(at, walk);
  // Rare: only the lazy binder of ld.so keeps its CFA in a register of its callers (rbx).
  if (walk.wanted != kNoRegister) {
    walk.followed = walk.wanted;
    walked = walk_once(at, walk);
  }
  return walked;
}

Walked Unwinder::walk_once(const Interrupted& at, Walk& walk) {
  Cursor cursor{
      at.saved[kSavedRip], at.saved[kSavedRsp], at.saved[kSavedRbp], at.saved, at.stack, true};
  if (!at.stack.contains(cursor.sp)) cursor.stack = at.alternate_stack;
  walk.frames[0] = cursor.pc;
  std::uint32_t count = 1, proved = 1;
  // On an unknown stack, such as a coroutine's, nothing is known about what is mapped.
  if (!cursor.stack.contains(cursor.sp)) return {count, true};
  while (!roots_.kept.contains(cursor.code())) {
    const PackedRule rule = rule_at(cursor.code());
    if (kind_of(rule) != RuleKind::none) proved = count;
    if (kind_of(rule) == RuleKind::signal_frame) walk.frames[count - 1] = cursor.pc;
    const Step done = step(cursor, rule, walk);
    if (done == Step::outermost || (done == Step::caller && roots_.silent.contains(cursor.code())))
      return {count, false};
    // Frames found by frame pointer count only if a rule or a root follows.
    if (done == Step::cut || count == walk.max) return {proved, true};
    walk.frames[count++] = cursor.code();
  }
  return {count, false};
}

Unwinder::Step Unwinder::step(Cursor& at, PackedRule rule, Walk& walk) {
  switch (kind_of(rule)) {
    case RuleKind::none:
      return step_by_frame_pointer(at);
    case RuleKind::outermost:
      return Step::outermost;
    case RuleKind::signal_frame:
      return step_over_signal(at, walk);
    case RuleKind::empty:
    case RuleKind::unsupported:
      return Step::cut;
    default:
      return step_by_rule(at, rule, walk);
  }
}

// Computes the canonical frame address (CFA): the stack pointer of the caller. Returns false if it
// cannot be computed.
bool Unwinder::cfa_of(const Cursor& at, PackedRule rule, Walk& walk, std::uint64_t& cfa) {
  const auto plus = [](std::uint64_t base, std::int64_t offset) {
    return base + static_cast<std::uint64_t>(offset);
  };
  switch (kind_of(rule)) {
    case RuleKind::from_sp:
      cfa = plus(at.sp, offset_of(rule));
      return true;
    case RuleKind::from_fp:
      cfa = plus(at.fp, offset_of(rule));
      return true;
    case RuleKind::return_in_reg:
      cfa = plus(at.sp, short_offset_of(rule));
      return true;
    case RuleKind::from_register: {
      const DwarfRegister reg = register_of(rule);
      const bool known = at.saved || (reg == walk.followed && at.kept_known);
      if (!known && is_callee_saved(reg) && walk.followed == kNoRegister) walk.wanted = reg;
      cfa = plus(at.saved ? at.saved[kSavedIndex[reg]] : at.kept, short_offset_of(rule));
      return known;
    }
    default: {
      const std::uint64_t base = kind_of(rule) == RuleKind::deref_sp ? at.sp : at.fp;
      if (!at.load(plus(base, short_offset_of(rule)), cfa)) return false;
      cfa = plus(cfa, addend_of(rule));
      return true;
    }
  }
}

Unwinder::Step Unwinder::step_by_rule(Cursor& at, PackedRule rule, Walk& walk) {
  std::uint64_t cfa = 0, caller = 0, fp = 0;
  if (!cfa_of(at, rule, walk, cfa) || cfa < at.sp || cfa > at.stack.end) return Step::cut;
  if (kind_of(rule) == RuleKind::return_in_reg) {
    if (!at.saved) return Step::cut;
    caller = at.saved[kSavedIndex[register_of(rule)]];
  } else if (cfa < at.sp + 8 || !at.load(cfa - 8, caller)) {
    return Step::cut;
  }
  if (!at.caller_fp(rule, cfa, fp)) return Step::cut;
  if (caller == 0) return Step::outermost;  // psABI 3.4.1: how a process may mark its first frame
  if (walk.followed != kNoRegister) follow_kept(at, cfa, walk.followed);
  at.pc = caller;
  at.sp = cfa;
  at.fp = fp;
  at.saved = nullptr;
  at.exact = false;
  return Step::caller;
}

// To be called before `at` becomes its caller: computes the value that `reg` had there.
void Unwinder::follow_kept(Cursor& at, std::uint64_t cfa, DwarfRegister reg) const {
  if (at.saved) {
    at.kept = at.saved[kSavedIndex[reg]];
    at.kept_known = true;
  }
  FrameTable table;
  KeptRegister place;
  if (find_(at.code(), table)) place = find_kept(table, at.code(), reg);
  if (place.kind == KeptRegister::same) return;
  at.kept_known = false;
  std::uint64_t base = cfa;
  std::int64_t offset = place.offset;
  if (place.kind == KeptRegister::at_term) {
    if (place.term.deref || (place.term.reg != kRsp && place.term.reg != kRbp)) return;
    base = place.term.reg == kRsp ? at.sp : at.fp;
    offset = place.term.offset;
  }
  const std::uint64_t address = base + static_cast<std::uint64_t>(offset);
  if (place.kind == KeptRegister::lost) return;
  const bool restored = at.saved && address < at.sp;  // as in Cursor::caller_fp
  at.kept_known = restored || at.load(address, at.kept);
}

// Code without unwind information, such as a JIT compiler's, usually keeps frame pointers.
Unwinder::Step Unwinder::step_by_frame_pointer(Cursor& at) {
  std::uint64_t fp = 0, caller = 0;
  if (!at.load(at.fp, fp) || !at.load(at.fp + 8, caller) || caller == 0) return Step::cut;
  at.pc = caller;
  at.sp = at.fp + 16;
  at.fp = fp;
  at.saved = nullptr;
  at.exact = at.kept_known = false;
  return Step::caller;
}

Unwinder::Step Unwinder::step_over_signal(Cursor& at, const Walk& walk) {
  const std::uint64_t saved = at.sp + kSavedOffset;
  if (at.stack.end - at.sp < kSavedOffset + 8ul * kSavedCount || saved % 8 != 0) return Step::cut;
  at.saved = reinterpret_cast<const std::uint64_t*>(saved);
  const std::uint64_t sp = at.saved[kSavedRsp];
  // From an alternate stack to the thread's own, or further out on the same one; so it ends.
  const bool outwards = at.stack.contains(sp) && sp > at.sp;
  if (!outwards && (at.stack.end == walk.thread_stack.end || !walk.thread_stack.contains(sp)))
    return Step::cut;
  if (!outwards) at.stack = walk.thread_stack;
  at.pc = at.saved[kSavedRip];
  at.fp = at.saved[kSavedRbp];
  at.sp = sp;
  at.exact = true;
  return Step::caller;
}

}  // namespace gnomon::collector
