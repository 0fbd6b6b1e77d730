// Events summed per call stack, for every metric at once. Any thread.
#include "reader/metrics/sums.h"

#include <algorithm>

namespace gnomon::reader {

const Sums::Plan& Sums::plan_of(const EventLayout& layout) {
  Plan& plan = plans_[layout.id];
  if (plan.layout == &layout) return plan;
  plan = {&layout, layout.field("stack"), {}};
  for (std::uint32_t m = 0; m < metric_table().size(); ++m) {
    const Metric& metric = metric_table()[m];
    const auto* field = layout.field(metric.field);
    if (metric.event == layout.name && (field || metric.field.empty()))
      plan.addends.push_back({m, field});
  }
  return plan;
}

bool Sums::add(const Event& event, StackRoom& room) {
  const Plan& plan = plan_of(event.layout);
  const std::uint64_t stack = plan.stack ? event.value(*plan.stack) : 0;
  if (plan.addends.empty()) return true;
  if (stack != 0 && !room.has(stack)) return false;
  add(event, plan, stack);
  return true;
}

void Sums::add(const Event& event, std::uint32_t key) {
  const Plan& plan = plan_of(event.layout);
  if (!plan.addends.empty()) add(event, plan, key);
}

void Sums::add(const Event& event, const Plan& plan, std::uint64_t key) {
  if (key >= used_.size()) used_.resize(std::max<std::size_t>(key + 1, used_.size() * 2));
  used_[key] = true;
  for (const Plan::Addend& addend : plan.addends) {
    PerMetric& metric = metrics_[addend.metric];
    const std::uint64_t value = addend.field ? event.value(*addend.field) : 1;
    if (key >= metric.by_stack.size())
      metric.by_stack.resize(std::max<std::size_t>(key + 1, metric.by_stack.size() * 2));
    metric.by_stack[key] += value;
    metric.total += value;
    ++metric.events;
    if (value <= metric.limit) continue;
    ++metric.beyond;
    metric.total_beyond += value;
  }
}

}  // namespace gnomon::reader
