// Attributed values: what a function's callers and callees contribute to it. Any thread.
#pragma once
#include <vector>

#include "reader/metrics/call_tree.h"

namespace gnomon::reader {

struct Attributed {
  FunctionId function;
  std::uint64_t value;
};

// The callers' values sum up to the inclusive value of the function, and so do its exclusive value
// and the callees'. Of a call stack on which the function recurs its innermost call counts: a
// function that calls itself is its own caller, and the calls above stand there with what is left.
// (Sun Studio Performance Analyzer, "How Recursion Affects Function-Level Metrics".)
struct Neighbours {
  std::vector<Attributed> callers, callees;  // no function twice, in order of their ids
};

// Indexed by FunctionId. inclusive: by node of the tree.
std::vector<Neighbours> neighbours(const CallTree& tree, const Values& inclusive);

}  // namespace gnomon::reader
