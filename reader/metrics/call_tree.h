// The call tree of a profile: call stacks merged by function. Any thread.
#pragma once
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "reader/base/units.h"

namespace gnomon::reader {

enum class CallId : std::uint32_t { total = 0, none = ~0u };

// A value of one metric per node, or per function: indexed by id.
using Values = std::vector<std::uint64_t>;

// Node 0 is <Total>, the caller of the outermost functions. A node stands for all call stacks that
// pass the same functions in the same order.
class CallTree {
 public:
  struct Node {
    CallId parent;
    FunctionId function;
    // Recursion: the nearest node above that is the same function (none: there is none), and the
    // node below that one on the way here.
    CallId same = CallId::none, through = CallId::none;
  };

  explicit CallTree(FunctionId total);
  // The node of `function` called by `caller`, made if it is new.
  CallId call(CallId caller, FunctionId function);
  // Once every node is there: finds recursion.
  void close();

  std::uint32_t size() const { return static_cast<std::uint32_t>(nodes_.size()); }
  const Node& node(CallId id) const { return nodes_[index(id)]; }

 private:
  std::vector<Node> nodes_;  // a caller before what it calls
  std::unordered_map<std::uint64_t, CallId> calls_;
};

// By node: what `exclusive` says of it and of all below it.
Values inclusive_by_node(const CallTree& tree, const Values& exclusive);

}  // namespace gnomon::reader
