// Exclusive and inclusive time of functions. Any thread.
#include "reader/metrics/functions.h"

#include <algorithm>

namespace gnomon::reader {

FunctionTime& FunctionTimes::at(FunctionId id) {
  if (index(id) >= times_.size()) {
    times_.resize(index(id) + 1);
    stamp_.resize(index(id) + 1);
  }
  times_[index(id)].function = id;
  return times_[index(id)];
}

void FunctionTimes::add(const WeightedStack& stack) {
  if (stack.frames.empty()) return;
  ++stacks_;
  at(stack.frames.front()).exclusive += stack.time;
  for (const FunctionId frame : stack.frames) {
    FunctionTime& time = at(frame);
    if (stamp_[index(frame)] == stacks_) continue;
    stamp_[index(frame)] = stacks_;
    time.inclusive += stack.time;
  }
}

std::vector<FunctionTime> FunctionTimes::take() && {
  std::erase_if(times_, [](const FunctionTime& t) { return t.inclusive.value == 0; });
  return std::move(times_);
}

}  // namespace gnomon::reader
