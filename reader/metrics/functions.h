// Exclusive and inclusive time of functions. Any thread.
#pragma once
#include <functional>
#include <vector>

#include "reader/base/result.h"
#include "reader/base/units.h"
#include "reader/experiment/events.h"

namespace gnomon::reader {

struct FunctionTime {
  FunctionId function{};
  Nanoseconds exclusive, inclusive;
};

// One call stack that occurred: its functions, leaf first, and its time.
struct WeightedStack {
  std::vector<FunctionId> frames;
  Nanoseconds time;
};

// Exclusive: the function is the leaf. Inclusive: it is anywhere on the stack, counted once a stack
// however often it recurs. (Sun Studio Performance Analyzer, "Function-Level Metrics".)
class FunctionTimes {
 public:
  void add(const WeightedStack& stack);
  std::vector<FunctionTime> take() &&;

 private:
  FunctionTime& at(FunctionId id);

  std::vector<FunctionTime> times_;   // indexed by FunctionId
  std::vector<std::uint64_t> stamp_;  // last stack a function was counted for
  std::uint64_t stacks_ = 0;
};

}  // namespace gnomon::reader
