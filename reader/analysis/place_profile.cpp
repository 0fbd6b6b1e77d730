// Exclusive and inclusive values of the places of one grain. Any thread, one at a time.
#include "reader/analysis/place_profile.h"

#include <algorithm>
#include <utility>

#include "reader/analysis/collapse.h"

namespace gnomon::reader {

Result<PlaceProfile> PlaceProfile::build(const AllSums& sums, const StackFrames& stacks,
                                         Places& places, Grain grain, const ProfileStyle& style,
                                         const Interrupt& interrupt) {
  const LargeVector<StackFrame>& frames = stacks.all;
  PlaceProfile profile(sums, places, grain);
  profile.first_ = stacks.first;
  LargeVector<Item>& items = profile.items_;
  items.resize(frames.size());
  profile.stacks_ = frames.size();
  Collapse collapse(places.space(), stacks, style.kernel);
  for (std::uint32_t id = 0; id < frames.size(); ++id) {
    if (interrupt.asked(id)) return interrupted();
    const StackFrame& frame = frames[id];
    const Collapse::Kind kind = collapse.look(id, frame);
    items[id].caller = collapse.shown_as(frame.caller);
    if (frame.kind == FrameKind::cut) items[id].place = places.of_cut_stack(grain);
    if (kind == Collapse::Kind::hidden)
      items[id].place = places.of_hidden(grain, collapse.file(id));
    if (kind == Collapse::Kind::inner) profile.inner_.emplace_back(id, collapse.shown_as(id));
    if (frame.kind != FrameKind::code || kind != Collapse::Kind::shown) continue;
    if (!style.inlines) {
      items[id].place = places.at(grain, frame.pc, frame.epoch, frame.is_leaf, interrupt);
      continue;
    }
    const auto chain = places.chain_at(grain, frame.pc, frame.epoch, frame.is_leaf, interrupt);
    items[id].place = chain.back();
    for (std::size_t outer = 0; outer + 1 < chain.size(); ++outer) {
      items.push_back({chain[outer], items[id].caller});
      items[id].caller = static_cast<std::uint32_t>(items.size() - 1);
    }
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
  LargeVector<std::uint32_t> first(items_.size() + 1), called(items_.size());
  for (std::uint32_t id = 1; id < items_.size(); ++id)
    if (items_[id].place != Item::kNone) ++first[items_[id].caller + 1];
  for (std::size_t i = 1; i < first.size(); ++i) first[i] += first[i - 1];
  LargeVector<std::uint32_t> next = first;
  for (std::uint32_t id = 1; id < items_.size(); ++id)
    if (items_[id].place != Item::kNone) called[next[items_[id].caller]++] = id;
  std::vector<std::uint32_t> open(size_), path{0};
  next = first;
  while (!path.empty()) {
    const std::uint32_t top = path.back();
    if (next[top] < first[top + 1]) {
      const std::uint32_t id = called[next[top]++];
      order_.push_back(id);
      items_[id].recurs = open[index(items_[id].place)]++ != 0;
      path.push_back(id);
      continue;
    }
    if (top != 0) --open[index(items_[top].place)];
    path.pop_back();
  }
}

std::vector<PlaceId> PlaceProfile::path_of(std::size_t part, std::uint32_t stack) const {
  std::vector<PlaceId> path;
  const std::size_t end = part + 1 < first_.size() ? first_[part + 1] : stacks_;
  if (stack == 0 || stack >= end - first_[part]) return path;
  for (std::uint32_t at = first_[part] + stack; at != 0; at = items_[at].caller)
    if (items_[at].place != Item::kNone) path.push_back(items_[at].place);
  return path;
}

const PlaceValues& PlaceProfile::values(MetricId metric) const {
  auto& kept = values_[index(metric)];
  if (kept) return *kept;
  PlaceValues values{sums_->total(metric), Values(size_), Values(size_)};
  Values below(items_.size());  // of each frame and of all it called
  for (std::size_t part = 0; part < first_.size(); ++part) {
    sums_->parts()[part].sums->each(metric, [&](std::uint32_t stack, std::uint64_t value) {
      below[first_[part] + stack] = value;
    });
  }
  for (const auto& [inner, shown] : inner_) below[shown] += std::exchange(below[inner], 0);
  const Values own(below.begin(), below.begin() + static_cast<std::ptrdiff_t>(stacks_));
  for (auto id = order_.rbegin(); id != order_.rend(); ++id) {
    const Item& item = items_[*id];
    if (*id < stacks_) values.exclusive[index(item.place)] += own[*id];
    if (!item.recurs) values.inclusive[index(item.place)] += below[*id];
    below[item.caller] += below[*id];
  }
  kept = std::move(values);
  return *kept;
}

}  // namespace gnomon::reader
