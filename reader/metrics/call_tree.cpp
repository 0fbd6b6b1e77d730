// The call tree of a profile: call stacks merged by function. Any thread.
#include "reader/metrics/call_tree.h"

#include <algorithm>
#include <vector>

namespace gnomon::reader {
namespace {

// The frames that each frame calls, one list behind the other.
class CalledFrames {
 public:
  explicit CalledFrames(std::span<const Frame> frames) : first_(frames.size() + 1) {
    for_each(frames, [&](std::uint32_t, const Frame& frame) { ++first_[frame.caller + 1]; });
    for (std::size_t i = 1; i < first_.size(); ++i) first_[i] += first_[i - 1];
    all_.resize(first_.back());
    LargeVector<std::uint32_t> next(first_.begin(), first_.end() - 1);
    for_each(frames,
             [&](std::uint32_t id, const Frame& frame) { all_[next[frame.caller]++] = id; });
  }

  std::span<const std::uint32_t> of(std::uint32_t frame) const {
    return std::span(all_).subspan(first_[frame], first_[frame + 1] - first_[frame]);
  }

 private:
  template <typename What>
  static void for_each(std::span<const Frame> frames, What what) {
    for (std::uint32_t id = 1; id < frames.size(); ++id)
      if (frames[id].function != Frame::kNone) what(id, frames[id]);
  }

  LargeVector<std::uint32_t> first_, all_;
};

// Makes the nodes of the call tree, depth first: a caller before the functions that it calls. The
// collector writes the frames of a call path mostly in this order too, so memory is read in order.
class Descent {
 public:
  Descent(std::span<const Frame> frames, LargeVector<CallTree::Node>& nodes,
          LargeVector<CallId>& place)
      : frames_(frames), called_(frames), nodes_(nodes), place_(place) {}

  void run(FunctionId total, const Interrupt& interrupt) {
    merged_.push_back(0);
    groups_.push_back({0, 1, CallId::none, 0, total});
    for (std::uint64_t steps = 0; !groups_.empty() && !interrupt.asked(steps); ++steps) {
      const Group group = groups_.back();
      groups_.pop_back();
      find_called(group, enter(group));
    }
  }

 private:
  // Frames that become one node: a part of `merged_`.
  struct Group {
    std::uint32_t begin, end;
    CallId parent;
    std::uint32_t depth;  // of the node; <Total>: 0
    FunctionId function;
  };
  // A node on the way to the present one.
  struct Step {
    CallId node;
    FunctionId function;
    std::uint32_t before;  // what `latest_` said of the function above the node
  };

  CallId enter(const Group& group) {
    for (; path_.size() > group.depth; path_.pop_back())
      latest_[index(path_.back().function)] = path_.back().before;
    const CallId node{static_cast<std::uint32_t>(nodes_.size())};
    nodes_.push_back({group.parent, group.function});
    if (index(group.function) >= latest_.size()) latest_.resize(index(group.function) + 1);
    std::uint32_t& last = latest_[index(group.function)];
    if (last != 0) nodes_.back().same = path_[last - 1].node;
    path_.push_back({node, group.function, last});
    if (last != 0) nodes_.back().through = path_[last].node;
    last = static_cast<std::uint32_t>(path_.size());
    return node;
  }

  // Puts what the frames of a group call on the pile, in place of the group: the function of the
  // smallest id on top.
  void find_called(const Group& group, CallId node) {
    callees_.clear();
    for (std::uint32_t at = group.begin; at < group.end; ++at) {
      place_[merged_[at]] = node;
      for (const std::uint32_t id : called_.of(merged_[at]))
        callees_.emplace_back(frames_[id].function, id);
    }
    merged_.resize(group.begin);
    if (callees_.size() > 1)
      std::sort(callees_.begin(), callees_.end(), [](const auto& a, const auto& b) {
        return a.first != b.first ? a.first > b.first : a.second < b.second;
      });
    for (const auto& [function, id] : callees_) {
      if (merged_.size() == group.begin || groups_.back().function != function)
        groups_.push_back(
            {static_cast<std::uint32_t>(merged_.size()), 0, node, group.depth + 1, function});
      merged_.push_back(id);
      groups_.back().end = static_cast<std::uint32_t>(merged_.size());
    }
  }

  std::span<const Frame> frames_;
  const CalledFrames called_;
  LargeVector<CallTree::Node>& nodes_;
  LargeVector<CallId>& place_;
  std::vector<Group> groups_;          // to be entered, the next one last
  std::vector<std::uint32_t> merged_;  // their frames, in the same order
  std::vector<std::pair<FunctionId, std::uint32_t>> callees_;
  std::vector<Step> path_;
  std::vector<std::uint32_t> latest_;  // by function: its last place in `path_`, from 1; 0: none
};

}  // namespace

CallTree::CallTree(FunctionId total, std::span<const Frame> frames, LargeVector<CallId>& place,
                   const Interrupt& interrupt) {
  place.assign(std::max<std::size_t>(frames.size(), 1), CallId::total);
  nodes_.reserve(place.size());
  constexpr Frame kNoFrame{0, Frame::kNone};
  Descent(frames.empty() ? std::span(&kNoFrame, 1) : frames, nodes_, place).run(total, interrupt);
  place.resize(frames.size());
}

Values inclusive_by_node(const CallTree& tree, const Values& exclusive) {
  Values sums = exclusive;
  for (std::uint32_t n = tree.size(); n-- > 1;) sums[index(tree.node(CallId{n}).parent)] += sums[n];
  return sums;
}

}  // namespace gnomon::reader
