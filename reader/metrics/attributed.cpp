// Attributed values: what a function's callers and callees contribute to it. Any thread.
#include "reader/metrics/attributed.h"

#include <algorithm>

#include "reader/base/flat_map.h"

namespace gnomon::reader {
namespace {

// Of all calls of one function by another: what they add to the callee, and to the caller.
struct Edge {
  std::uint64_t to_callee = 0, to_caller = 0;
};

std::uint64_t key_of(FunctionId caller, FunctionId callee) {
  return std::uint64_t{index(caller)} << 32 | index(callee);
}

void sort(std::vector<Attributed>& edges) {
  std::sort(edges.begin(), edges.end(), [](const Attributed& a, const Attributed& b) {
    return index(a.function) < index(b.function);
  });
}

}  // namespace

std::vector<Neighbours> neighbours(const CallTree& tree, const Values& inclusive) {
  // Of each node and of each call: the stacks on which its function, or its caller, does not recur
  // further in.
  Values innermost = inclusive, call = inclusive;
  std::uint32_t functions = 0;
  for (std::uint32_t n = 0; n < tree.size(); ++n) {
    const CallTree::Node& node = tree.node(CallId{n});
    functions = std::max(functions, index(node.function) + 1);
    if (node.same == CallId::none) continue;
    innermost[index(node.same)] -= inclusive[n];
    call[index(node.through)] -= inclusive[n];
  }
  FlatMap<Edge> edges;
  for (std::uint32_t n = 1; n < tree.size(); ++n) {
    const CallTree::Node& node = tree.node(CallId{n});
    Edge& edge = *edges.add(key_of(tree.node(node.parent).function, node.function)).first;
    edge.to_callee += innermost[n];
    edge.to_caller += call[n];
  }
  std::vector<Neighbours> result(functions);
  edges.for_each([&](std::uint64_t key, const Edge& edge) {
    const FunctionId caller{static_cast<std::uint32_t>(key >> 32)};
    const FunctionId callee{static_cast<std::uint32_t>(key)};
    result[index(callee)].callers.push_back({caller, edge.to_callee});
    result[index(caller)].callees.push_back({callee, edge.to_caller});
  });
  for (Neighbours& each : result) {
    sort(each.callers);
    sort(each.callees);
  }
  return result;
}

}  // namespace gnomon::reader
