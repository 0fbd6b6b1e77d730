// Tells how much each event adds to the metric that is exported. Any thread.
#include "reader/export/weights.h"

#include <optional>

#include "reader/analysis/heap_values.h"

namespace gnomon::reader {
namespace {

// Returns what the event adds to the metric; none: nothing.
std::optional<std::uint64_t> weight_of(const Event& event, const Metric& metric, HeapValues& heap) {
  const bool is_leak = metric.event == kLeakEvent;
  if (const auto amounts = heap.of(event);
      amounts && (is_leak || metric.event == event.layout.name)) {
    const HeapAmount& amount = is_leak ? amounts->leaked : amounts->allocated;
    if (amount.blocks == 0) return std::nullopt;
    return metric.field.empty() ? amount.blocks : amount.bytes;
  }
  const auto bound = EventMetric::bind(metric, event.layout);
  return bound ? bound->of(event) : std::nullopt;
}

}  // namespace

Result<void> each_weight(const ExportSource& source, Part& part, const TakeWeight& take) {
  const Metric& metric = row(source.metric);
  HeapValues heap(part);
  return part.each_event(source.interrupt, [&](const Event& event) -> Result<void> {
    const auto* stack = event.layout.field("stack");
    const auto weight = weight_of(event, metric, heap);
    if (!weight || !stack) return {};
    take(event, *weight,
         source.profile.place(part.number() - 1,
                              StackId{static_cast<std::uint32_t>(event.value(*stack))}));
    return {};
  });
}

}  // namespace gnomon::reader
