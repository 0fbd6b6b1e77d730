// Exclusive and inclusive values of the places of one grain. Any thread, one at a time.
#include "reader/analysis/place_profile.h"

#include <algorithm>

namespace gnomon::reader {

Result<PlaceProfile> PlaceProfile::build(const Sums& sums, std::span<const StackFrame> frames,
                                         Places& places, Grain grain, const Interrupt& interrupt) {
  PlaceProfile profile(sums, places, grain);
  profile.items_.resize(frames.size());
  for (std::uint32_t id = 0; id < frames.size(); ++id) {
    if (interrupt.asked(id)) return interrupted();
    const StackFrame& frame = frames[id];
    Item& item = profile.items_[id];
    item.caller = frame.caller;
    if (frame.kind == FrameKind::cut) item.place = places.of_cut_stack(grain);
    if (frame.kind == FrameKind::code)
      item.place = places.at(grain, frame.pc, frame.epoch, frame.is_leaf, interrupt);
  }
  // Lines that an interruption kept from being read are missing from then on.
  if (interrupt.asked()) return interrupted();
  profile.total_ = places.of_total(grain);
  profile.size_ = places.size(grain);
  profile.find_recursion();
  return profile;
}

// Depth first over the forest of stacks: on the way down `open` counts each place.
void PlaceProfile::find_recursion() {
  std::vector<std::uint32_t> first(items_.size() + 1), called(items_.size());
  for (std::uint32_t id = 1; id < items_.size(); ++id)
    if (items_[id].place != Item::kNone) ++first[items_[id].caller + 1];
  for (std::size_t i = 1; i < first.size(); ++i) first[i] += first[i - 1];
  std::vector<std::uint32_t> next = first;
  for (std::uint32_t id = 1; id < items_.size(); ++id)
    if (items_[id].place != Item::kNone) called[next[items_[id].caller]++] = id;
  std::vector<std::uint32_t> open(size_), path{0};
  next = first;
  while (!path.empty()) {
    const std::uint32_t top = path.back();
    if (next[top] < first[top + 1]) {
      const std::uint32_t id = called[next[top]++];
      items_[id].recurs = open[index(items_[id].place)]++ != 0;
      path.push_back(id);
      continue;
    }
    if (top != 0) --open[index(items_[top].place)];
    path.pop_back();
  }
}

const PlaceValues& PlaceProfile::values(MetricId metric) const {
  auto& kept = values_[index(metric)];
  if (kept) return *kept;
  PlaceValues values{sums_->total(metric), Values(size_), Values(size_)};
  const Values& by_stack = sums_->by_stack(metric);
  Values below(items_.size());  // of each frame and of all it called
  std::copy_n(by_stack.begin(), std::min(by_stack.size(), below.size()), below.begin());
  for (std::size_t id = items_.size(); id-- > 1;) {
    const Item& item = items_[id];
    if (item.place == Item::kNone) continue;
    if (id < by_stack.size()) values.exclusive[index(item.place)] += by_stack[id];
    if (!item.recurs) values.inclusive[index(item.place)] += below[id];
    if (item.caller != 0) below[item.caller] += below[id];
  }
  kept = std::move(values);
  return *kept;
}

}  // namespace gnomon::reader
