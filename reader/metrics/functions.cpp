// Exclusive and inclusive values of functions. Any thread.
#include "reader/metrics/functions.h"

#include <algorithm>

namespace gnomon::reader {

FunctionValues by_function(const CallTree& tree, const Values& exclusive, const Values& inclusive) {
  std::uint32_t functions = 0;
  for (std::uint32_t n = 0; n < tree.size(); ++n)
    functions = std::max(functions, index(tree.node(CallId{n}).function) + 1);
  FunctionValues values{Values(functions), Values(functions)};
  for (std::uint32_t n = 0; n < tree.size(); ++n) {
    const CallTree::Node& node = tree.node(CallId{n});
    values.exclusive[index(node.function)] += exclusive[n];
    if (node.same == CallId::none) values.inclusive[index(node.function)] += inclusive[n];
  }
  return values;
}

}  // namespace gnomon::reader
