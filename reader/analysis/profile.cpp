// What reports on functions start from: the call tree of the events. Any thread, one at a time.
#include "reader/analysis/profile.h"

#include <algorithm>
#include <map>
#include <numeric>

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

// The nodes of the stack table as frames of functions.
struct Frames {
  std::vector<Frame> frames;  // by StackId
  std::vector<std::uint8_t> marks;
};

Result<Frames> frames_of(const std::vector<bool>& used, const Stacks& stacks, AddressSpace& space,
                         const Interrupt& interrupt) {
  constexpr std::uint32_t kAsk = 1024;
  const auto met = stacks_met(used, stacks);
  if (!met) return tl::unexpected(met.error());
  Frames all{std::vector<Frame>(met->size(), {0, Frame::kNone}),
             std::vector<std::uint8_t>(met->size())};
  std::vector<std::uint32_t> epoch(met->size());
  for (std::uint32_t id = 1; id < met->size(); ++id) {
    if (id % kAsk == 0 && interrupt.asked()) return interrupted();
    if (!(*met)[id]) continue;
    const format::StackNode& node = stacks.node(StackId{id});
    if (format::is_epoch_mark(node.pc)) {
      if (node.parent != 0 || (id < used.size() && used[id])) return stack_is_missing();
      epoch[id] = static_cast<std::uint32_t>(node.pc);
      continue;
    }
    epoch[id] = epoch[node.parent];
    // Marks that stand for no frame are nobody's caller.
    const bool is_called = all.frames[node.parent].function != Frame::kNone;
    const std::uint32_t caller = is_called ? node.parent : 0;
    if (format::is_walk_mark(node.pc) && is_outermost(stacks, id)) {
      if (id < used.size() && used[id]) return stack_is_missing();
      all.marks[id] = static_cast<std::uint8_t>(node.pc);
      if (format::end_of_mark(node.pc) != format::WalkEnd::whole)
        all.frames[id] = {caller, space.named("<Truncated-stack>")};
      continue;
    }
    all.marks[id] = all.marks[node.parent];
    all.frames[id] = {caller, space.function_at(node.pc, epoch[id])};
  }
  return all;
}

// Returns the row of kWalkEnds; ends that a newer collector writes are plain cuts.
std::size_t end_of(std::uint8_t mark) {
  const auto end = static_cast<std::size_t>(format::end_of_mark(mark));
  return end < format::kWalkEnds ? end : static_cast<std::size_t>(format::WalkEnd::cut);
}

// Names that several functions share are told apart by their load object.
std::vector<std::string> names_of(const AddressSpace& space) {
  std::map<std::string, int> uses;
  for (std::uint32_t f = 0; f < space.size(); ++f) ++uses[space.function(FunctionId{f}).name];
  std::vector<std::string> names;
  for (std::uint32_t f = 0; f < space.size(); ++f) {
    const Function& function = space.function(FunctionId{f});
    const bool shared = uses[function.name] > 1 && !function.object.empty();
    const std::string object = function.object.substr(function.object.rfind('/') + 1);
    names.push_back(shared ? function.name + " (" + object + ")" : function.name);
  }
  return names;
}

}  // namespace

Result<Profile> Profile::build(const Sums& sums, const Stacks& stacks, AddressSpace& space,
                               const Interrupt& interrupt) {
  const FunctionId total = space.named("<Total>");
  auto all = frames_of(sums.used(), stacks, space, interrupt);
  if (!all) return tl::unexpected(all.error());
  std::vector<CallId> place;
  Profile profile(sums, CallTree(total, all->frames, place, interrupt));
  if (interrupt.asked()) return interrupted();
  profile.place_ = std::move(place);
  profile.marks_ = std::move(all->marks);
  profile.names_ = names_of(space);
  for (std::uint32_t f = 0; f < space.size(); ++f)
    profile.functions_.push_back(space.function(FunctionId{f}));
  profile.values_.resize(metric_table().size());
  profile.neighbours_.resize(metric_table().size());
  return profile;
}

std::uint64_t MetricValues::truncated() const {
  return std::accumulate(by_end.begin() + 1, by_end.end(), std::uint64_t{0});
}

// An event without a call stack counts in <Total> alone.
const MetricValues& Profile::values(MetricId metric) const {
  auto& kept = values_[index(metric)];
  if (kept) return *kept;
  MetricValues values;
  values.total = sums_->total(metric);
  values.exclusive.resize(tree_.size());
  const Values& by_stack = sums_->by_stack(metric);
  if (!by_stack.empty()) values.exclusive[index(CallId::total)] = by_stack[0];
  for (std::size_t id = 1; id < std::min(place_.size(), by_stack.size()); ++id) {
    values.exclusive[index(place_[id])] += by_stack[id];
    values.by_end[end_of(marks_[id])] += by_stack[id];
    if (marks_[id] & format::kGuessed) values.guessed += by_stack[id];
  }
  values.inclusive = inclusive_by_node(tree_, values.exclusive);
  values.functions = by_function(tree_, values.exclusive, values.inclusive);
  values.functions.exclusive.resize(names_.size());
  values.functions.inclusive.resize(names_.size());
  kept = std::move(values);
  return *kept;
}

const std::vector<Neighbours>& Profile::neighbours_by(MetricId metric) const {
  auto& kept = neighbours_[index(metric)];
  if (!kept) {
    kept = neighbours(tree_, values(metric).inclusive);
    kept->resize(names_.size());
  }
  return *kept;
}

}  // namespace gnomon::reader
