// The sums of several experiments, and their call stacks under numbers of one kind. Any thread, one
// at a time.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "reader/experiment/stacks.h"
#include "reader/metrics/sums.h"

namespace gnomon::reader {

class AllSums {
 public:
  struct Part {
    const Sums* sums;
    const Stacks* stacks;
  };

  // Both must outlive the object.
  void add(const Sums& sums, const Stacks& stacks) { parts_.push_back({&sums, &stacks}); }
  const std::vector<Part>& parts() const { return parts_; }

  std::uint64_t total(MetricId metric) const {
    std::uint64_t sum = 0;
    for (const Part& part : parts_) sum += part.sums->total(metric);
    return sum;
  }
  // Returns true if there is an event that the metric is about.
  bool has(MetricId metric) const {
    return std::any_of(parts_.begin(), parts_.end(),
                       [&](const Part& part) { return part.sums->has(metric); });
  }

 private:
  std::vector<Part> parts_;
};

}  // namespace gnomon::reader
