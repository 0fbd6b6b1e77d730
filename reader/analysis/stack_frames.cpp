// The frames of the call stacks that events name. Any thread, one at a time.
#include "reader/analysis/stack_frames.h"

#include <algorithm>
#include <span>

#include "reader/symbols/address_space.h"

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

// Appends the frames of a part.
Result<void> add_frames(const AllSums::Part& part, std::uint32_t number, const Interrupt& interrupt,
                        StackFrames& to) {
  const std::vector<bool>& used = part.sums->used();
  const Stacks& stacks = *part.stacks;
  const auto met = stacks_met(used, stacks);
  if (!met) return tl::unexpected(met.error());
  LargeVector<StackFrame>& all = to.all;
  const std::size_t first = all.size();
  // An experiment without events has no stacks, but a number for none.
  all.resize(first + std::max<std::size_t>(met->size(), 1));
  const std::span<StackFrame> frames = std::span(all).subspan(first);
  for (std::uint32_t id = 1; id < frames.size(); ++id) {
    if (interrupt.asked(id)) return interrupted();
    if (!(*met)[id]) continue;
    const Stacks::Node& node = stacks.node(StackId{id});
    StackFrame& frame = frames[id];
    frame.is_leaf = id < used.size() && used[id];
    if (format::is_epoch_mark(node.pc)) {
      if (node.parent != 0 || frame.is_leaf) return stack_is_missing();
      frame.epoch = epoch_of_mark(number, node.pc);
      continue;
    }
    const StackFrame& parent = frames[node.parent];
    frame.epoch = node.parent == 0 ? Epoch{number, 0} : parent.epoch;
    frame.pc = node.pc;
    // Marks that stand for no frame are nobody's caller.
    if (parent.kind != FrameKind::nothing)
      frame.caller = static_cast<std::uint32_t>(first) + node.parent;
    if (format::is_walk_mark(node.pc) && is_outermost(stacks, id)) {
      if (frame.is_leaf) return stack_is_missing();
      frame.mark = static_cast<std::uint8_t>(node.pc);
      if (format::end_of_mark(node.pc) != format::WalkEnd::whole) frame.kind = FrameKind::cut;
      continue;
    }
    frame.mark = parent.mark;
    frame.kind = FrameKind::code;
    to.has_kernel |= format::is_kernel(node.pc);
  }
  return {};
}

}  // namespace

Result<StackFrames> stack_frames(const AllSums& sums, const Interrupt& interrupt) {
  StackFrames frames;
  for (const AllSums::Part& part : sums.parts()) {
    const auto number = static_cast<std::uint32_t>(frames.first.size());
    frames.first.push_back(static_cast<std::uint32_t>(frames.all.size()));
    if (auto added = add_frames(part, number, interrupt, frames); !added)
      return tl::unexpected(added.error());
  }
  return frames;
}

}  // namespace gnomon::reader
