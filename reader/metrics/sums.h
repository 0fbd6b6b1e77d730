// Events summed per call stack, for every metric at once: each event is touched once. Any thread.
#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "reader/base/flat_map.h"
#include "reader/base/large_vector.h"
#include "reader/base/result.h"
#include "reader/base/units.h"
#include "reader/experiment/event.h"
#include "reader/experiment/stacks.h"
#include "reader/metrics/call_tree.h"
#include "reader/metrics/event_metric.h"
#include "reader/metrics/metric.h"

namespace gnomon::reader {

class Sums {
 public:
  // Counts of a metric's events those whose value is larger, but no rests of the clock. To be
  // called before `add`.
  void set_limit(MetricId metric, std::uint64_t limit) { metrics_[index(metric)].limit = limit; }

  // Returns false if there is no room for the event's call stack, so that the experiment is
  // damaged.
  bool has_stack_of(const Event& event, StackRoom& room);
  // Adds an event. Returns false if there is no room for its call stack, so that the experiment is
  // damaged.
  bool add(const Event& event, StackRoom& room);
  // Likewise under another number than that of its call stack. The numbers of one object are all
  // of one kind, and small.
  void add(const Event& event, std::uint32_t key);

  // Adds events that no record stands for, of the kind `event`, whose metrics are a count and a
  // value. `forget` takes all of a kind back; then there were none, which is known.
  void add(const std::string& event, std::uint32_t key, std::uint64_t count, std::uint64_t value);
  void forget(const std::string& event);

  // The events to come are described by other objects than those so far.
  void forget_layouts() { plans_.assign(plans_.size(), {}); }

  // Calls visit(key, value) for each StackId, or each such number, that has an event which the
  // metric is about, in no order.
  template <typename Visit>
  void each(MetricId metric, Visit visit) const {
    const Place at = places_[index(metric)];
    if (!at.group) return;
    at.group->settle();
    for (std::size_t i = 0; i < at.group->keys.size(); ++i)
      visit(at.group->keys[i], at.group->values[i * at.group->metrics.size() + at.column]);
  }
  // 0: the number has no event.
  std::uint64_t value(MetricId metric, std::uint32_t key) const;
  std::uint64_t total(MetricId metric) const { return metrics_[index(metric)].total; }
  // The events beyond the limit, and their values' sum.
  std::uint64_t beyond(MetricId metric) const { return metrics_[index(metric)].beyond; }
  std::uint64_t total_beyond(MetricId metric) const { return metrics_[index(metric)].total_beyond; }
  // Returns true if there is an event that the metric is about, or none is known to be.
  bool has(MetricId metric) const { return metrics_[index(metric)].is_known; }
  // By StackId: the stack has an event.
  const std::vector<bool>& used() const { return used_; }

 private:
  static constexpr std::size_t kWaiting = 16;
  struct PerMetric {
    std::uint64_t total = 0;
    bool is_known = false;
    std::uint64_t limit = ~std::uint64_t{0};
    std::uint64_t beyond = 0, total_beyond = 0;
  };
  // The sums of all metrics about one kind of event. Most numbers of call stacks have no event, as
  // they stand for the callers of others: so there is a row only for each number that has events,
  // in the order in which those numbers were first met.
  struct Group {
    std::vector<std::size_t> metrics;
    FlatMap<std::uint32_t, std::uint32_t> rows;  // by key
    LargeVector<std::uint32_t> keys;             // by row
    LargeVector<std::uint64_t> values;           // of each row, one a metric
    // Keys whose values are still to be added, and those: while more come, the processor fetches
    // what is needed of the others.
    std::array<std::uint32_t, kWaiting> waiting;
    std::vector<std::uint64_t> waiting_values;  // of each, one a metric
    std::size_t waits = 0;

    void settle();
  };
  struct Place {
    Group* group = nullptr;  // null: there is no such event
    std::size_t column = 0;
  };
  using Field = std::optional<EventLayout::Field>;
  // What the layout of a kind means for the metrics; found once a kind. A copy: whoever reads the
  // recording once more has layouts of his own.
  struct Plan {
    Group* group = nullptr;  // null: not yet found
    Field stack;
    Field rest;  // of the clock
    struct Addend {
      std::size_t metric, column;
      EventMetric value;
    };
    std::vector<Addend> addends;
  };
  Group& group_of(const std::string& event);
  const Plan& plan_of(const EventLayout& layout);
  void add(const Event& event, const Plan& plan, std::uint32_t key);
  void note_use(std::uint32_t key);
  std::uint64_t* begin_event(Group& group, std::uint32_t key);
  static void add_value(PerMetric& metric, std::uint64_t value, std::uint64_t& waiting,
                        bool may_be_beyond = true);

  std::vector<PerMetric> metrics_{kMostMetrics};
  std::vector<Place> places_{kMostMetrics};
  std::map<std::string, std::unique_ptr<Group>> groups_;  // by name of the kind of event
  std::vector<Plan> plans_{256};                          // by event kind
  std::vector<bool> used_;
};

}  // namespace gnomon::reader
