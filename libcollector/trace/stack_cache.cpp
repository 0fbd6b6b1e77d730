// The call stacks of one thread's traced calls. In a hook, one call at a time: no lock, no system
// call, little stack.
#include "libcollector/trace/stack_cache.h"

#include <atomic>

#include "libcollector/core/signal_action.h"

namespace gnomon::collector {
namespace {

std::uint64_t word_at(std::uint64_t place) {
  return *reinterpret_cast<const std::uint64_t*>(place);  // NOLINT(*.NullDereference): in a stack
}

bool is_word_of(const ByteRange& stack, std::uint64_t place) {
  return place % 8 == 0 && place >= stack.begin && place <= stack.end - 8;
}

}  // namespace

bool StackCache::is_met(const Frame& frame, const Call& call) const {
  return frame.call.slot == call.slot && frame.call.pc == call.pc &&
         (!frame.depends_on_fp || frame.call.fp == call.fp);
}

// Two sums, because each waits for its own last step.
bool StackCache::are_unchanged(std::uint32_t words) const {
  std::uint64_t a = 0, b = 0;
  std::uint32_t i = 0;
  for (; i + 1 < words; i += 2) {
    a |= word_at(words_[i].place) ^ words_[i].value;
    b |= word_at(words_[i + 1].place) ^ words_[i + 1].value;
  }
  if (i < words) a |= word_at(words_[i].place) ^ words_[i].value;
  return (a | b) == 0;
}

// One of the `count` outermost frames has read a word that has changed since. The frames further in
// than that one are still right: this function appends them to the fresh frames, the innermost with
// `fp` as its rbp, which may differ from the kept one. Returns how many outer frames are left to
// compare with, or kFrames if there is no room.
std::uint32_t StackCache::keep_inner_part(std::uint32_t count, std::uint64_t fp) {
  std::uint32_t word = frames_[count - 1].words;
  while (word > 0 && word_at(words_[word - 1].place) == words_[word - 1].value) --word;
  std::uint32_t reader = count - 1;
  while (reader > 0 && frames_[reader - 1].words >= word) --reader;
  if (fresh_ + count - reader > kFrames) return kFrames;
  for (std::uint32_t i = count; i-- > reader;) {
    Frame& frame = fresh_frames_[fresh_++];
    frame = frames_[i];
    frame.call.fp = fp;
    if (!frame.hands_fp_on) fp = frame.fp_place == 0 ? 0 : word_at(frame.fp_place);
  }
  return reader;
}

PackedRule StackCache::rule_at(std::uint64_t pc, Unwinder& unwinder) {
  KnownRule* known = rules_.at(pc);
  if (known && known->pc == pc) return known->rule;
  rules_.missed();
  const PackedRule rule = unwinder.rule_at(pc);
  if ((known = rules_.at(pc))) {
    known->pc = 0;  // a signal that comes in between finds no half of an entry
    known->rule = rule;
    known->pc = pc;
  }
  return rule;
}

// Returns 0 if the frame has no node yet.
std::uint32_t StackCache::node_at(std::uint32_t parent, std::uint64_t pc, const NodeMaker& nodes) {
  const std::uint64_t hash = pc ^ std::uint64_t{parent} << 32;
  KnownNode* known = nodes_.at(hash);
  if (known && known->pc == pc && known->parent == parent) return known->node;
  const std::uint32_t node = nodes.known(nodes.of, parent, pc);
  if (node == 0) return 0;
  nodes_.missed();
  if ((known = nodes_.at(hash))) {
    known->pc = 0;
    known->node = node;
    known->parent = parent;
    known->pc = pc;
  }
  return node;
}

// As Unwinder::step_by_rule and Cursor::caller_fp do it, for the two common rules.
StackCache::Step StackCache::step(Frame& from, Call& caller, const ByteRange& stack,
                                  Unwinder& unwinder) {
  const bool is_root = unwinder.roots().is_kept(from.call.pc - 1);
  const PackedRule rule =
      is_root ? pack({RuleKind::outermost}) : rule_at(from.call.pc - 1, unwinder);
  const std::uint64_t sp = from.call.slot + 8;
  const std::uint32_t fp = fp_of(rule);
  from.fp_place = from.end_place = 0;
  from.reads_fp = kind_of(rule) == RuleKind::from_fp;
  from.hands_fp_on = false;
  if (kind_of(rule) == RuleKind::outermost) return Step::outermost;
  if (kind_of(rule) != RuleKind::from_sp && !from.reads_fp) return Step::not_kept;
  const std::uint64_t cfa =
      (from.reads_fp ? from.call.fp : sp) + static_cast<std::uint64_t>(offset_of(rule));
  if (cfa < sp + 8 || cfa % 8 != 0 || !is_word_of(stack, cfa - 8)) return Step::not_kept;
  caller = {cfa - 8, word_at(cfa - 8), from.call.fp};
  if (fp == 0) {
    from.hands_fp_on = true;
  } else if (fp == kFpLost) {
    caller.fp = 0;
  } else {
    from.reads_fp = from.reads_fp || fp == kFpAtFp;
    from.fp_place = fp == kFpAtFp ? from.call.fp : cfa - 8ull * fp;
    if (from.fp_place < sp || from.fp_place >= cfa || !is_word_of(stack, from.fp_place))
      return Step::not_kept;
    caller.fp = word_at(from.fp_place);
  }
  const std::uint64_t code = caller.pc - 1;
  if (caller.pc != 0 && !unwinder.roots().is_silent(code)) return Step::caller;
  from.end_place = caller.slot;  // psABI 3.4.1: 0 marks the first frame of a process
  from.end_word = caller.pc;
  return Step::outermost;
}

// Puts a fresh frame behind `count` frames.
void StackCache::put(std::uint32_t count, std::uint32_t fresh) {
  Frame& frame = frames_[count];
  const Frame* outer = count == 0 ? nullptr : &frames_[count - 1];
  frame = fresh_frames_[fresh];
  std::uint32_t words = outer ? outer->words : 0;
  if (!outer && frame.end_place != 0) words_[words++] = {frame.end_place, frame.end_word};
  if (outer) words_[words++] = {outer->call.slot, outer->call.pc};
  if (outer && outer->depends_on_fp && frame.fp_place != 0)
    words_[words++] = {frame.fp_place, outer->call.fp};
  frame.words = words;
  frame.depends_on_fp = frame.reads_fp || (frame.hands_fp_on && outer && outer->depends_on_fp);
}

// Gives frames_[from, to) their nodes. Returns that of the last; 0 if the recording has failed.
std::uint32_t StackCache::name_frames(std::uint32_t from, std::uint32_t to,
                                      const Unwinder& unwinder, const NodeMaker& nodes) {
  std::uint32_t node = from == 0 ? base_ : frames_[from - 1].node;
  const Roots& roots = unwinder.roots();
  const auto is_hidden = [&](std::uint32_t i) {
    return i + 1 != to && roots.hides(frames_[i].call.pc - 1);
  };
  const auto stored = [&](std::uint32_t i) { return roots.stored(frames_[i].call.pc - 1); };
  std::uint32_t i = from;
  for (std::uint32_t known = node; i < to; ++i) {
    if (!is_hidden(i)) known = node_at(node, stored(i), nodes);
    if (known == 0) break;
    frames_[i].node = node = known;
  }
  if (i == to) return node;
  // What stands under a new node is new. A handler that is left by longjmp would leave it undone.
  const Blocked blocked(kAllSignals);
  for (; i < to; ++i) {
    if (!is_hidden(i)) node = nodes.make(nodes.of, node, stored(i));
    frames_[i].node = node;
    if (node == 0) return 0;
  }
  return node;
}

// Puts the fresh frames behind those that were kept. Returns the node of the innermost.
std::uint32_t StackCache::append(const Unwinder& unwinder, const NodeMaker& nodes) {
  std::uint32_t count = count_;
  for (std::uint32_t i = fresh_; i-- > 0; ++count) put(count, i);
  const std::uint32_t node = name_frames(count_, count, unwinder, nodes);
  std::atomic_signal_fence(std::memory_order_seq_cst);
  fresh_ = 0;
  count_ = node == 0 ? 0 : count;
  return node;
}

void StackCache::forget() {
  count_ = 0;
  rules_.clear();
  nodes_.clear();
  version_ = 0;  // no unwinder has that
}

std::uint32_t StackCache::node_of(const Call& call, const ByteRange& stack, std::uint32_t depth,
                                  Unwinder& unwinder, const NodeMaker& nodes) {
  if (const std::uint32_t version = unwinder.version(); version != version_) {
    forget();
    version_ = version;
    base_ = nodes.outermost(nodes.of);
  }
  std::uint32_t count = count_;
  Call at = call;
  fresh_ = 0;
  for (;;) {
    while (count > 0 && frames_[count - 1].call.slot < at.slot) --count;
    Frame* last = nullptr;
    if (count > 0 && is_met(frames_[count - 1], at)) {
      if (are_unchanged(frames_[count - 1].words)) break;
      count = keep_inner_part(count, at.fp);
      if (count == kFrames) return 0;
      last = &fresh_frames_[fresh_ - 1];
    } else {
      if (fresh_ == kFrames) return 0;
      last = &fresh_frames_[fresh_++];
      last->call = at;
    }
    const Step done = step(*last, at, stack, unwinder);
    if (done == Step::not_kept) return 0;
    if (done == Step::outermost) {
      count = 0;
      break;
    }
  }
  if (count + fresh_ > kFrames || count + fresh_ > depth) return 0;
  count_ = count;
  // Whoever leaves the rest for good, from a signal handler, leaves a sound cache.
  std::atomic_signal_fence(std::memory_order_seq_cst);
  return append(unwinder, nodes);
}

}  // namespace gnomon::collector
