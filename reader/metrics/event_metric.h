// What a metric takes from an event of one kind. Any thread.
#pragma once
#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "reader/experiment/event.h"
#include "reader/metrics/metric.h"

namespace gnomon::reader {

class EventMetric {
 public:
  // A copy: whoever reads the recording once more has layouts of his own.
  using Field = EventLayout::Field;

  // Returns nothing if the metric is about no event of that layout.
  static std::optional<EventMetric> bind(const Metric& metric, const EventLayout& layout) {
    EventMetric bound;
    if (metric.event != layout.name) return std::nullopt;
    for (const Condition& condition : metric.conditions) {
      if (condition.field.empty()) continue;
      const Field* const field = layout.field(condition.field);
      if (field) bound.tests_.push_back({*field, condition});
      if (!field && !condition.contains(0)) return std::nullopt;
    }
    if (const Field* const field = layout.field(metric.field)) bound.field_ = *field;
    if (const Field* const field = layout.field(metric.divisor)) bound.divisor_ = *field;
    if (!metric.field.empty() && !bound.field_) return std::nullopt;
    return bound;
  }

  // Returns nothing if the metric is not about the event.
  std::optional<std::uint64_t> of(const Event& event) const {
    for (const Test& test : tests_)
      if (!test.condition.contains(event.value(test.field))) return std::nullopt;
    const std::uint64_t value = field_ ? event.value(*field_) : 1;
    return divisor_ ? value / std::max<std::uint64_t>(event.value(*divisor_), 1) : value;
  }

 private:
  struct Test {
    Field field;
    Condition condition;
  };
  std::vector<Test> tests_;  // all of them the event has to pass
  std::optional<Field> field_, divisor_;
};

}  // namespace gnomon::reader
