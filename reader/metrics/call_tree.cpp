// The call tree of a profile: call stacks merged by function. Any thread.
#include "reader/metrics/call_tree.h"

namespace gnomon::reader {

CallTree::CallTree(FunctionId total) { nodes_.push_back({CallId::none, total}); }

CallId CallTree::call(CallId caller, FunctionId function) {
  const std::uint64_t key = std::uint64_t{index(caller)} << 32 | index(function);
  const auto [at, fresh] = calls_.try_emplace(key, CallId{size()});
  if (fresh) nodes_.push_back({caller, function});
  return at->second;
}

// Depth first: on the way down `latest` knows the last node of each function.
void CallTree::close() {
  std::vector<std::vector<std::uint32_t>> called(nodes_.size());
  std::uint32_t functions = 0;
  for (std::uint32_t n = size(); n-- > 1;) called[index(nodes_[n].parent)].push_back(n);
  for (const Node& node : nodes_) functions = std::max(functions, index(node.function) + 1);
  struct Step {
    std::uint32_t node;
    CallId before;  // latest of its function above it
    std::size_t next;
  };
  struct Latest {
    CallId node = CallId::none;
    std::size_t depth = 0;
  };
  std::vector<Latest> latest(functions);
  std::vector<Step> path;
  const auto enter = [&](std::uint32_t n) {
    Latest& last = latest[index(nodes_[n].function)];
    nodes_[n].same = last.node;
    path.push_back({n, last.node, 0});
    if (last.node != CallId::none) nodes_[n].through = CallId{path[last.depth + 1].node};
    last = {CallId{n}, path.size() - 1};
  };
  std::vector<std::size_t> depth_of(nodes_.size());
  for (enter(0); !path.empty();) {
    Step& top = path.back();
    depth_of[top.node] = path.size() - 1;
    if (top.next < called[top.node].size()) {
      enter(called[top.node][top.next++]);
      continue;
    }
    Latest& last = latest[index(nodes_[top.node].function)];
    last.node = top.before;
    if (last.node != CallId::none) last.depth = depth_of[index(last.node)];
    path.pop_back();
  }
}

Values inclusive_by_node(const CallTree& tree, const Values& exclusive) {
  Values sums = exclusive;
  for (std::uint32_t n = tree.size(); n-- > 1;) sums[index(tree.node(CallId{n}).parent)] += sums[n];
  return sums;
}

}  // namespace gnomon::reader
