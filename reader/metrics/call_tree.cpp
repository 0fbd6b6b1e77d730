// The call tree of a profile: call stacks merged by function. Any thread.
#include "reader/metrics/call_tree.h"

#include <algorithm>

namespace gnomon::reader {

namespace {

// The frames that each frame calls, one list behind the other.
class CalledFrames {
 public:
  explicit CalledFrames(std::span<const Frame> frames) : first_(frames.size() + 1) {
    for_each(frames, [&](std::uint32_t, const Frame& frame) { ++first_[frame.caller + 1]; });
    for (std::size_t i = 1; i < first_.size(); ++i) first_[i] += first_[i - 1];
    all_.resize(first_.back());
    std::vector<std::uint32_t> next(first_.begin(), first_.end() - 1);
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

  std::vector<std::uint32_t> first_, all_;
};

}  // namespace

CallTree::CallTree(FunctionId total, std::span<const Frame> frames, std::vector<CallId>& place,
                   const Interrupt& interrupt) {
  nodes_.push_back({CallId::none, total});
  place.assign(frames.size(), CallId::total);
  if (!frames.empty()) merge(frames, place, interrupt);
  find_recursion(interrupt);
}

// Breadth first: the frames of a node lie beside each other in `merged`, and what they call is
// sorted by function.
void CallTree::merge(std::span<const Frame> frames, std::vector<CallId>& place,
                     const Interrupt& interrupt) {
  const CalledFrames called(frames);
  std::vector<std::uint32_t> merged{0}, end_of_node{1};
  std::vector<std::pair<FunctionId, std::uint32_t>> callees;
  for (std::uint32_t n = 0, at = 0; n < size() && !interrupt.asked(n); ++n) {
    callees.clear();
    for (; at < end_of_node[n]; ++at)
      for (const std::uint32_t id : called.of(merged[at]))
        callees.push_back({frames[id].function, id});
    std::sort(callees.begin(), callees.end());
    nodes_[n].first_called = size();
    for (const auto& [function, id] : callees) {
      if (nodes_.size() == nodes_[n].first_called || nodes_.back().function != function) {
        nodes_.push_back({CallId{n}, function});
        end_of_node.push_back(0);
      }
      merged.push_back(id);
      end_of_node.back() = static_cast<std::uint32_t>(merged.size());
      place[id] = CallId{size() - 1};
    }
  }
}

// Depth first: on the way down `latest` knows the last node of each function.
void CallTree::find_recursion(const Interrupt& interrupt) {
  std::uint32_t functions = 0;
  for (const Node& node : nodes_) functions = std::max(functions, index(node.function) + 1);
  struct Step {
    std::uint32_t node, next;
    std::uint32_t before;  // latest of its function above it, as a depth; 0: none
  };
  std::vector<std::uint32_t> latest(functions);  // depth + 1
  std::vector<Step> path;
  const auto enter = [&](std::uint32_t n) {
    std::uint32_t& last = latest[index(nodes_[n].function)];
    if (last != 0) nodes_[n].same = CallId{path[last - 1].node};
    path.push_back({n, nodes_[n].first_called, last});
    if (last != 0) nodes_[n].through = CallId{path[last].node};
    last = static_cast<std::uint32_t>(path.size());
  };
  std::uint64_t steps = 0;
  for (enter(0); !path.empty() && !interrupt.asked(steps++);) {
    Step& top = path.back();
    if (top.next < called(top.node).end) {
      enter(top.next++);
      continue;
    }
    latest[index(nodes_[top.node].function)] = top.before;
    path.pop_back();
  }
}

Values inclusive_by_node(const CallTree& tree, const Values& exclusive) {
  Values sums = exclusive;
  for (std::uint32_t n = tree.size(); n-- > 1;) sums[index(tree.node(CallId{n}).parent)] += sums[n];
  return sums;
}

}  // namespace gnomon::reader
