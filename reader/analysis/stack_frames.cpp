// The frames of the call stacks that events name. Any thread, one at a time.
#include "reader/analysis/stack_frames.h"

namespace gnomon::reader {
namespace {

tl::unexpected<Fault> stack_is_missing() {
  return fault("the experiment is damaged: an event's call stack is missing", "record again");
}

// The stacks of events, and the outer parts of those: a node's parent has a smaller number. Fault:
// an event names a stack that is not there.
Result<std::vector<bool>> stacks_met(const std::vector<bool>& used, const Stacks& stacks) {
  std::vector<bool> met(stacks.size());
  for (std::uint32_t id = static_cast<std::uint32_t>(used.size()); id-- > 1;) {
    const bool outer = id < met.size() && met[id];
    if (!outer && !used[id]) continue;
    if (!stacks.contains(StackId{id})) return stack_is_missing();
    met[id] = true;
    met[index(stacks.parent(StackId{id}))] = true;
  }
  return met;
}

// Returns true if nothing but an epoch's mark stands above the node.
bool is_outermost(const Stacks& stacks, std::uint32_t id) {
  const std::uint32_t parent = stacks.node(StackId{id}).parent;
  return parent == 0 || format::is_epoch_mark(stacks.node(StackId{parent}).pc);
}

}  // namespace

Result<std::vector<StackFrame>> stack_frames(const std::vector<bool>& used, const Stacks& stacks,
                                             const Interrupt& interrupt) {
  const auto met = stacks_met(used, stacks);
  if (!met) return tl::unexpected(met.error());
  std::vector<StackFrame> frames(met->size());
  for (std::uint32_t id = 1; id < frames.size(); ++id) {
    if (interrupt.asked(id)) return interrupted();
    if (!(*met)[id]) continue;
    const format::StackNode& node = stacks.node(StackId{id});
    StackFrame& frame = frames[id];
    frame.is_leaf = id < used.size() && used[id];
    if (format::is_epoch_mark(node.pc)) {
      if (node.parent != 0 || frame.is_leaf) return stack_is_missing();
      frame.epoch = static_cast<std::uint32_t>(node.pc);
      continue;
    }
    const StackFrame& parent = frames[node.parent];
    frame.epoch = parent.epoch;
    frame.pc = node.pc;
    // Marks that stand for no frame are nobody's caller.
    frame.caller = parent.kind == FrameKind::nothing ? 0 : node.parent;
    if (format::is_walk_mark(node.pc) && is_outermost(stacks, id)) {
      if (frame.is_leaf) return stack_is_missing();
      frame.mark = static_cast<std::uint8_t>(node.pc);
      if (format::end_of_mark(node.pc) != format::WalkEnd::whole) frame.kind = FrameKind::cut;
      continue;
    }
    frame.mark = parent.mark;
    frame.kind = FrameKind::code;
  }
  return frames;
}

}  // namespace gnomon::reader
