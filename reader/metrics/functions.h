// Exclusive and inclusive values of functions. Any thread.
#pragma once
#include "reader/metrics/call_tree.h"

namespace gnomon::reader {

// Indexed by FunctionId. Exclusive: the function is the leaf. Inclusive: it is anywhere on the
// stack, counted once a stack however often it recurs. (Sun Studio Performance Analyzer,
// "Function-Level Metrics".)
struct FunctionValues {
  Values exclusive, inclusive;
};

// exclusive, inclusive: by node of the tree.
FunctionValues by_function(const CallTree& tree, const Values& exclusive, const Values& inclusive);

}  // namespace gnomon::reader
