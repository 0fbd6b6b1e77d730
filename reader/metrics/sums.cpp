// Events summed per call stack, for every metric at once. Any thread.
#include "reader/metrics/sums.h"

#include <algorithm>

namespace gnomon::reader {

Sums::Group& Sums::group_of(const std::string& event) {
  std::unique_ptr<Group>& group = groups_[event];
  if (group) return *group;
  group = std::make_unique<Group>();
  for (std::size_t m = 0; m < metric_table().size(); ++m) {
    if (metric_table()[m].event != event) continue;
    places_[m] = {group.get(), group->metrics.size()};
    group->metrics.push_back(m);
  }
  group->waiting_values.resize(kWaiting * group->metrics.size());
  return *group;
}

const Sums::Plan& Sums::plan_of(const EventLayout& layout) {
  Plan& plan = plans_[layout.id];
  if (plan.group) return plan;
  const auto field_of = [&](std::string_view name) {
    const auto* const found = layout.field(name);
    return found ? Field(*found) : Field();
  };
  Group& group = group_of(layout.name);
  plan = {&group, field_of("stack"), field_of("rest"), {}};
  for (std::size_t column = 0; column < group.metrics.size(); ++column) {
    const std::size_t metric = group.metrics[column];
    if (auto value = EventMetric::bind(metric_table()[metric], layout))
      plan.addends.push_back({metric, column, std::move(*value)});
  }
  return plan;
}

bool Sums::has_stack_of(const Event& event, StackRoom& room) {
  const Plan& plan = plan_of(event.layout);
  const std::uint64_t stack = plan.stack ? event.value(*plan.stack) : 0;
  return stack == 0 || room.has(stack);
}

bool Sums::add(const Event& event, StackRoom& room) {
  const Plan& plan = plan_of(event.layout);
  const std::uint64_t stack = plan.stack ? event.value(*plan.stack) : 0;
  if (stack != 0 && !room.has(stack)) return false;
  if (plan.addends.empty()) {
    if (stack != 0) note_use(static_cast<std::uint32_t>(stack));
    return true;
  }
  add(event, plan, static_cast<std::uint32_t>(stack));
  return true;
}

void Sums::add(const Event& event, std::uint32_t key) {
  const Plan& plan = plan_of(event.layout);
  if (!plan.addends.empty()) add(event, plan, key);
}

void Sums::note_use(std::uint32_t key) {
  if (key >= used_.size()) used_.resize(std::max<std::size_t>(key + 1, used_.size() * 2));
  used_[key] = true;
}

// Where the event's values are to be put.
std::uint64_t* Sums::begin_event(Group& group, std::uint32_t key) {
  if (group.waits == group.waiting.size()) group.settle();
  note_use(key);
  group.rows.prefetch(key);
  std::uint64_t* const values = &group.waiting_values[group.waits * group.metrics.size()];
  std::fill_n(values, group.metrics.size(), 0);  // a layout may lack a metric's field
  group.waiting[group.waits++] = key;
  return values;
}

void Sums::add_value(PerMetric& metric, std::uint64_t value, std::uint64_t& waiting,
                     bool may_be_beyond) {
  waiting = value;
  metric.total += value;
  metric.is_known = true;
  if (value <= metric.limit || !may_be_beyond) return;
  ++metric.beyond;
  metric.total_beyond += value;
}

void Sums::add(const Event& event, const Plan& plan, std::uint32_t key) {
  std::uint64_t* const values = begin_event(*plan.group, key);
  const bool may_be_late = !plan.rest || event.value(*plan.rest) == 0;
  for (const Plan::Addend& addend : plan.addends)
    if (const auto value = addend.value.of(event))
      add_value(metrics_[addend.metric], *value, values[addend.column], may_be_late);
}

void Sums::add(const std::string& event, std::uint32_t key, std::uint64_t count,
               std::uint64_t value) {
  Group& group = group_of(event);
  std::uint64_t* const values = begin_event(group, key);
  for (std::size_t column = 0; column < group.metrics.size(); ++column) {
    const Metric& metric = metric_table()[group.metrics[column]];
    add_value(metrics_[group.metrics[column]], metric.field.empty() ? count : value,
              values[column]);
  }
}

void Sums::forget(const std::string& event) {
  Group& group = group_of(event);
  group.rows = {};
  group.keys.clear();
  group.values.clear();
  group.waits = 0;
  for (const std::size_t metric : group.metrics) {
    const std::uint64_t limit = metrics_[metric].limit;
    metrics_[metric] = {};
    metrics_[metric].is_known = true;
    metrics_[metric].limit = limit;
  }
}

void Sums::Group::settle() {
  std::array<std::size_t, kWaiting> places;
  for (std::size_t i = 0; i < waits; ++i) {
    const auto [row, is_new] = rows.add(waiting[i]);
    if (is_new) {
      *row = static_cast<std::uint32_t>(keys.size());
      keys.push_back(waiting[i]);
      values.resize(values.size() + metrics.size());
    }
    places[i] = *row * metrics.size();
    __builtin_prefetch(&values[places[i]], 1);
  }
  for (std::size_t i = 0; i < waits; ++i)
    for (std::size_t column = 0; column < metrics.size(); ++column)
      values[places[i] + column] += waiting_values[i * metrics.size() + column];
  waits = 0;
}

std::uint64_t Sums::value(MetricId metric, std::uint32_t key) const {
  const Place at = places_[index(metric)];
  if (!at.group) return 0;
  at.group->settle();
  const std::uint32_t* const row = at.group->rows.find(key);
  return row ? at.group->values[*row * at.group->metrics.size() + at.column] : 0;
}

}  // namespace gnomon::reader
