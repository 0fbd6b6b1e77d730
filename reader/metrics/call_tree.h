// The call tree of a profile: call stacks merged by function. Any thread.
#pragma once
#include <cstdint>
#include <span>

#include "reader/base/interrupt.h"
#include "reader/base/large_vector.h"
#include "reader/base/units.h"

namespace gnomon::reader {

enum class CallId : std::uint32_t { total = 0, none = ~0u };

// A value of one metric per node, or per function: indexed by id.
using Values = LargeVector<std::uint64_t>;

// A frame of the forest that call stacks share, at the place that is its number.
struct Frame {
  static constexpr FunctionId kNone{~0u};  // nothing is here
  std::uint32_t caller;                    // 0: it is outermost
  FunctionId function;
};

// Node 0 is <Total>, the caller of the outermost functions. A node stands for all call stacks that
// pass the same functions in the same order. Behind each node stands all that it calls, depth first
// and in order of the functions' ids.
class CallTree {
 public:
  struct Node {
    CallId parent;
    FunctionId function;
    // Recursion: the nearest node above that is the same function (none: there is none), and the
    // node below that one on the way here.
    CallId same = CallId::none, through = CallId::none;
  };

  // frames[0] is not looked at. `place`: becomes the node of each frame. One that was interrupted
  // lacks nodes.
  CallTree(FunctionId total, std::span<const Frame> frames, LargeVector<CallId>& place,
           const Interrupt& interrupt = {});

  std::uint32_t size() const { return static_cast<std::uint32_t>(nodes_.size()); }
  const Node& node(CallId id) const { return nodes_[index(id)]; }

 private:
  LargeVector<Node> nodes_;
};

// By node: what `exclusive` says of it and of all below it.
Values inclusive_by_node(const CallTree& tree, const Values& exclusive);

}  // namespace gnomon::reader
