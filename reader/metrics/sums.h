// Events summed per call stack, for every metric at once: each event is touched once. Any thread.
#pragma once
#include <cstdint>
#include <vector>

#include "reader/base/result.h"
#include "reader/base/units.h"
#include "reader/experiment/event.h"
#include "reader/experiment/stacks.h"
#include "reader/metrics/call_tree.h"
#include "reader/metrics/metric.h"

namespace gnomon::reader {

class Sums {
 public:
  // Counts of a metric's events those whose value is larger. To be called before `add`.
  void set_limit(MetricId metric, std::uint64_t limit) { metrics_[index(metric)].limit = limit; }

  // Adds an event. Returns false if there is no room for its call stack, so that the experiment is
  // damaged.
  bool add(const Event& event, StackRoom& room);
  // Likewise under another number than that of its call stack. The numbers of one object are all
  // of one kind, and small.
  void add(const Event& event, std::uint32_t key);

  // The events to come are described by other objects than those so far.
  void forget_layouts() { plans_.assign(plans_.size(), {}); }

  // By StackId, or by that number; shorter than the stack table where the last stacks have no
  // events.
  const Values& by_stack(MetricId metric) const { return metrics_[index(metric)].by_stack; }
  std::uint64_t total(MetricId metric) const { return metrics_[index(metric)].total; }
  // The events beyond the limit, and their values' sum.
  std::uint64_t beyond(MetricId metric) const { return metrics_[index(metric)].beyond; }
  std::uint64_t total_beyond(MetricId metric) const { return metrics_[index(metric)].total_beyond; }
  // Returns true if there is an event that the metric is about.
  bool has(MetricId metric) const { return metrics_[index(metric)].events != 0; }
  // By StackId: the stack has an event.
  const std::vector<bool>& used() const { return used_; }

 private:
  struct PerMetric {
    Values by_stack;
    std::uint64_t total = 0;
    std::uint64_t events = 0;
    std::uint64_t limit = ~std::uint64_t{0};
    std::uint64_t beyond = 0, total_beyond = 0;
  };
  // What the layout of a kind means for the metrics; found once a kind.
  struct Plan {
    const EventLayout* layout = nullptr;
    const EventLayout::Field* stack = nullptr;
    struct Addend {
      std::size_t metric;
      const EventLayout::Field* field;  // null: count
    };
    std::vector<Addend> addends;
  };
  const Plan& plan_of(const EventLayout& layout);
  void add(const Event& event, const Plan& plan, std::uint64_t key);

  std::vector<PerMetric> metrics_{metric_table().size()};
  std::vector<Plan> plans_{256};  // by event kind
  std::vector<bool> used_;
};

}  // namespace gnomon::reader
