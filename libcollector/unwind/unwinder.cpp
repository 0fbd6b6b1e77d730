// Unwinder: any context, signal handlers too: no lock, no heap, every load checked against the
// stack.
#include "libcollector/unwind/unwinder.h"

#include <sys/mman.h>

#include "libcollector/unwind/rule_maker.h"

namespace gnomon::collector {
namespace {

using format::WalkEnd;

// The part of rule_at that runs once a pc.
PackedRule new_rule(FindTable find, std::uint64_t pc) {
  FrameTable table;
  return find(pc, table) ? make_rule(table, pc) : pack({RuleKind::no_object});
}

bool is_guess(PackedRule rule) {
  return kind_of(rule) == RuleKind::none || kind_of(rule) == RuleKind::no_object;
}

// Why a walk ended in the frame with this rule. On a foreign stack that is where it began, unless
// the walk made no step.
WalkEnd end_at(const Cursor& at, PackedRule rule) {
  if (at.on_foreign_stack() && !at.interrupted()) return WalkEnd::foreign_stack;
  if (kind_of(rule) == RuleKind::no_object) return WalkEnd::no_object;
  return kind_of(rule) == RuleKind::none ? WalkEnd::no_rule : WalkEnd::damaged;
}

}  // namespace

bool Unwinder::open(FindTable find, const Roots& roots) {
  // Populated: in the handler a page fault costs more than the rule it stores.
  void* slots = mmap(nullptr, RuleCache::kBytes, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
  if (slots == MAP_FAILED) return false;
  cache_.open(slots);
  find_ = find;
  roots_ = &roots;
  return true;
}

PackedRule Unwinder::rule_at(std::uint64_t pc) {
  if (pc >> 47 != 0) return pack({RuleKind::no_object});  // beyond user space
  PackedRule rule = cache_.find(pc);
  if (rule == 0) {
    rule = new_rule(find_, pc);
    cache_.put(pc, rule);
  }
  return rule;
}

bool Unwinder::is_one_function(std::uint64_t one, std::uint64_t other) {
  FrameTable table;
  FrameDescription frame;
  return find_(one, table) && find_frame(table, one + table.shift, frame) == Found::yes &&
         frame.code.contains(other + table.shift);
}

// from: what the walk's first cursor is made of; pc: of its frame.
template <typename From>
Walked Unwinder::walk_from(const From& from, std::uint64_t pc, Walk& walk) {
  for (;;) {
    walk.switches = 0;
    walk.may_guess = true;
    walk.hid = false;
    Cursor cursor(from, walk.followed);
    if (!cursor.enter_stack(walk.stacks)) {
      walk.frames[0] = pc;
      return {1, cursor.beyond_copy() ? WalkEnd::beyond_copy : WalkEnd::foreign_stack, false};
    }
    Walked walked = follow(cursor, 0, walk);
    walked.hid = walk.hid;
    // Rare: only the lazy binder of ld.so keeps its CFA in a register of its callers (rbx).
    if (!walked.truncated() || walk.wanted == kNoRegister || walk.followed != kNoRegister)
      return walked;
    walk.followed = walk.wanted;
  }
}

Walked Unwinder::walk(const Interrupted& at, std::uint64_t* frames, std::uint32_t max,
                      LoadedHold& hold) {
  Walk walk{at.stacks, frames, max, hold};
  return walk_from(at.saved, at.saved[kSavedRip], walk);
}

Walked Unwinder::walk(const Call& call, const ThreadStacks& stacks, std::uint64_t* frames,
                      std::uint32_t max, LoadedHold& hold) {
  Walk walk{stacks, frames, max, hold};
  return walk_from(call, call.pc - 1, walk);
}

// Frames that were found by guessing count only if unwind information or a root follows.
Walked Unwinder::follow(Cursor& at, std::uint32_t count, Walk& walk) {
  Walked known;  // up to the outermost frame that was not guessed
  bool guessed = false, pending = false;
  for (;;) {
    if (count > 0 && roots_->is_silent(at.code())) break;
    if (count == walk.max) return {known.count, WalkEnd::depth, known.guessed};
    const bool hides = count > 0 && roots_->hides(at.code());
    walk.hid = walk.hid || hides;
    if (!hides) walk.frames[count++] = roots_->stored(at.code());
    if (roots_->is_kept(at.code())) break;
    const PackedRule rule = rule_at(at.code());
    const bool ruled = !is_guess(rule);
    if (kind_of(rule) == RuleKind::signal_frame) walk.frames[count - 1] = at.pc();
    guessed = guessed || (pending && ruled);
    pending = pending && !ruled;
    if (!pending) known = {count, end_at(at, rule), guessed, false, at.sp()};
    if (!ruled && (!walk.may_guess || !walk.hold.hold())) return known;
    if (!ruled) {
      if (const Walked found = guess(at, count, walk); !found.truncated()) return found;
      if (at.fp() == 0 && !at.interrupted()) break;  // psABI 3.4.1: the outermost frame
      pending = true;
    }
    const Step done = ruled ? step(at, rule, walk) : step_by_frame_pointer(at);
    const bool is_short = ruled ? at.beyond_copy() : at.fp_is_beyond_copy();
    if (done == Step::cut && is_short) known.end = WalkEnd::beyond_copy;
    if (done == Step::cut) return known;
    if (done == Step::outermost) break;
  }
  return {count, WalkEnd::whole, guessed || pending, false, at.sp()};
}

}  // namespace gnomon::collector
