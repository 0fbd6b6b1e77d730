// Attributed values: what a function's callers and callees contribute to it. Any thread.
#include "reader/metrics/attributed.h"

#include <algorithm>

namespace gnomon::reader {
namespace {

void merge(std::vector<Attributed>& edges) {
  std::sort(edges.begin(), edges.end(), [](const Attributed& a, const Attributed& b) {
    return index(a.function) < index(b.function);
  });
  std::size_t kept = 0;
  for (std::size_t i = 0; i < edges.size(); ++i)
    if (kept > 0 && edges[kept - 1].function == edges[i].function)
      edges[kept - 1].value += edges[i].value;
    else
      edges[kept++] = edges[i];
  edges.resize(kept);
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
  std::vector<Neighbours> result(functions);
  for (std::uint32_t n = 1; n < tree.size(); ++n) {
    const CallTree::Node& node = tree.node(CallId{n});
    const FunctionId caller = tree.node(node.parent).function;
    result[index(node.function)].callers.push_back({caller, innermost[n]});
    result[index(caller)].callees.push_back({node.function, call[n]});
  }
  for (Neighbours& each : result) {
    merge(each.callers);
    merge(each.callees);
  }
  return result;
}

}  // namespace gnomon::reader
