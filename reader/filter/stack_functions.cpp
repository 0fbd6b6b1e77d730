// The functions of call stacks, while events that name those stacks are still being read. Any
// thread, one at a time.
#include "reader/filter/stack_functions.h"

#include <set>

namespace gnomon::reader {

Result<void> StackFunctions::read_new(const Interrupt& interrupt) {
  const auto experiment = open_experiment(directory_);
  if (!experiment) return tl::unexpected(experiment.error());
  if (auto read = stacks_.read_new(*experiment, interrupt); !read) return read;
  take_objects_(*experiment);
  space_.set_interrupt(interrupt);
  if (begins_.empty()) begins_.push_back(0);
  for (auto id = static_cast<std::uint32_t>(begins_.size() - 1); id < stacks_.size(); ++id) {
    if (interrupt.asked(id)) break;
    add_node(StackId{id}, interrupt);
    begins_.push_back(functions_.size());
  }
  space_.set_interrupt({});
  if (interrupt.asked()) return interrupted();
  return {};
}

void StackFunctions::add_node(StackId id, const Interrupt& interrupt) {
  epochs_.push_back({part_, 0});
  if (index(id) == 0 || !stacks_.contains(id)) return;
  const Stacks::Node& node = stacks_.node(id);
  if (format::is_epoch_mark(node.pc)) {
    epochs_.back() = epoch_of_mark(part_, node.pc);
    return;
  }
  epochs_.back() = epochs_[node.parent];
  if (format::is_walk_mark(node.pc)) {
    if (format::end_of_mark(node.pc) != format::WalkEnd::whole)
      functions_.push_back(space_.named(kCutStack));
    return;
  }
  if (format::is_kernel(node.pc) && !with_kernel_) return;
  const FunctionId function = space_.function_at(node.pc, epochs_.back());
  if (places_) {
    const auto& chain = places_->inlined_at(node.pc, epochs_.back(), interrupt);
    for (std::size_t inner = chain.size(); inner-- > 1;)
      functions_.push_back(chain[inner].function);
  }
  functions_.push_back(function);
  if (const auto whole = space_.whole_of(function)) functions_.push_back(*whole);
}

Result<void> StackFunctions::know(StackId stack, const Interrupt& interrupt) {
  return index(stack) + 1 >= begins_.size() ? read_new(interrupt) : Result<void>();
}

Result<void> StackFunctions::add(StackId stack, std::vector<std::int64_t>& to,
                                 const Interrupt& interrupt) {
  if (auto known = know(stack, interrupt); !known) return known;
  if (index(stack) == 0) return {};
  if (!stacks_.contains(stack))
    return fault(directory_ + " is damaged: an event's call stack is missing", "record again");
  for (StackId id = stack; index(id) != 0; id = stacks_.parent(id))
    for (std::size_t at = begins_[index(id)]; at < begins_[index(id) + 1]; ++at)
      to.push_back(index(functions_[at]));
  return {};
}

std::vector<std::int64_t> StackFunctions::all() const {
  std::set<std::int64_t> found;
  for (const FunctionId each : functions_) found.insert(index(each));
  return {found.begin(), found.end()};
}

}  // namespace gnomon::reader
