// What reports on functions start from: the call tree of the events. Any thread, one at a time.
#include "reader/analysis/profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <span>
#include <tuple>

#include "reader/analysis/collapse.h"
#include "reader/analysis/stack_frames.h"
#include "reader/symbols/name_match.h"

namespace gnomon::reader {
namespace {

// Returns the row of kWalkEnds; ends that a newer collector writes are plain cuts.
std::size_t end_of(std::uint8_t mark) {
  const auto end = static_cast<std::size_t>(format::end_of_mark(mark));
  return end < format::kWalkEnds ? end : static_cast<std::size_t>(format::WalkEnd::cut);
}

// How many functions have a name, in all and in a load object and in a module of it.
class Uses {
 public:
  explicit Uses(const AddressSpace& space) {
    for (std::uint32_t f = 0; f < space.size(); ++f) {
      const Function& each = space.function(FunctionId{f});
      ++uses_[{each.name, "", ""}];
      if (each.object.empty()) continue;
      ++uses_[{each.name, each.object, ""}];
      if (!each.module.empty()) ++uses_[{each.name, each.object, each.module}];
    }
  }
  int of(const std::string& name, const std::string& object = "",
         const std::string& module = "") const {
    const auto at = uses_.find({name, object, module});
    return at == uses_.end() ? 0 : at->second;
  }

 private:
  std::map<std::tuple<std::string, std::string, std::string>, int> uses_;
};

// What tells a name that several functions share apart: the load object, of a static function the
// module or, last, the address.
std::string mark_apart(const Function& function, const Uses& uses, bool with_object) {
  const auto& [name, object, module] = std::tie(function.name, function.object, function.module);
  if (object.empty()) return "";
  const int all = uses.of(name), here = uses.of(name, object);
  const std::string file = object.substr(object.rfind('/') + 1);
  if (all <= 1 || here == 1) return all > 1 || with_object ? fmt::format(" ({})", file) : "";
  const std::string other = all == here && !with_object ? "" : ", " + file;
  if (uses.of(name, object, module) == 1 && !module.empty())
    return fmt::format(" ({}{})", module, other);
  return fmt::format(" ({}{:#x}{})", module.empty() ? "" : module + ", ", function.address, other);
}

std::string name_in(NameForm form, const Function& function) {
  if (form == NameForm::mangled && !function.symbol.empty()) return function.symbol;
  return form == NameForm::without_parameters ? plain_name(function.name) : function.name;
}

std::vector<std::string> names_of(const AddressSpace& space, const ProfileStyle& style) {
  const Uses uses(space);
  std::vector<std::string> names;
  for (std::uint32_t f = 0; f < space.size(); ++f) {
    const Function& function = space.function(FunctionId{f});
    names.push_back(name_in(style.names, function) +
                    mark_apart(function, uses, style.has_object_names));
  }
  return names;
}

// A frame for each number of a stack; behind them those that stand for no frame of the machine's:
// of inlined functions, and of a function whose outlined part runs, which is made its caller. (Sun
// Studio Performance Analyzer, "Outline Functions".)
Result<LargeVector<Frame>> frames_of(std::span<const StackFrame> stack, AddressSpace& space,
                                     Collapse& collapse, Places& places, const ProfileStyle& style,
                                     const Interrupt& interrupt) {
  LargeVector<Frame> frames(stack.size(), {0, Frame::kNone});
  const auto go_in = [&](std::uint32_t id, FunctionId inner) {
    frames.push_back(frames[id]);
    frames[id] = {static_cast<std::uint32_t>(frames.size() - 1), inner};
  };
  for (std::uint32_t id = 0; id < stack.size(); ++id) {
    if (interrupt.asked(id)) return interrupted();
    const StackFrame& frame = stack[id];
    const Collapse::Kind kind = collapse.look(id, frame);
    const std::uint32_t caller = collapse.shown_as(frame.caller);
    if (frame.kind == FrameKind::cut) frames[id] = {caller, space.named(kCutStack)};
    if (kind == Collapse::Kind::hidden) frames[id] = {caller, space.hidden(collapse.file(id))};
    if (frame.kind != FrameKind::code || kind != Collapse::Kind::shown) continue;
    const FunctionId function = space.function_at(frame.pc, frame.epoch);
    frames[id] = {caller, function};
    if (const auto whole = style.is_machine ? std::nullopt : space.whole_of(function)) {
      frames[id].function = *whole;
      go_in(id, function);
    }
    if (!style.inlines) continue;
    const auto& chain = places.inlined_at(frame.pc, frame.epoch, interrupt);
    for (std::size_t inner = 1; inner < chain.size(); ++inner) go_in(id, chain[inner].function);
  }
  return frames;
}

}  // namespace

Result<Profile> Profile::build(const AllSums& sums, AddressSpace& space, Places& places,
                               const ProfileStyle& style, const Interrupt& interrupt) {
  const FunctionId total = space.named(kTotal);
  auto stacks = stack_frames(sums, interrupt);
  if (!stacks) return tl::unexpected(stacks.error());
  const std::size_t size = stacks->all.size();
  Collapse collapse(space, *stacks, style.kernel);
  const auto frames = frames_of(stacks->all, space, collapse, places, style, interrupt);
  if (!frames) return tl::unexpected(frames.error());
  LargeVector<std::uint8_t> marks;
  marks.reserve(size);
  for (const StackFrame& frame : stacks->all) marks.push_back(frame.mark);
  stacks->all = {};  // before the tree is made, which takes as much
  LargeVector<CallId> place;
  Profile profile(sums, CallTree(total, *frames, place, interrupt));
  if (interrupt.asked()) return interrupted();
  place.resize(size);
  for (std::uint32_t id = 0; id < size; ++id) place[id] = place[collapse.shown_as(id)];
  profile.place_ = std::move(place);
  profile.marks_ = std::move(marks);
  profile.first_ = std::move(stacks->first);
  profile.names_ = names_of(space, style);
  for (std::uint32_t f = 0; f < space.size(); ++f)
    profile.functions_.push_back(space.function(FunctionId{f}));
  profile.values_.resize(kMostMetrics);
  profile.neighbours_.resize(kMostMetrics);
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
  for (std::size_t part = 0; part < first_.size(); ++part) {
    sums_->parts()[part].sums->each(metric, [&](std::uint32_t stack, std::uint64_t value) {
      const std::size_t frame = first_[part] + stack;
      values.exclusive[index(stack == 0 ? CallId::total : place_[frame])] += value;
      if (stack == 0) return;
      values.by_end[end_of(marks_[frame])] += value;
      if (marks_[frame] & format::kGuessed) values.guessed += value;
    });
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
