// Metrics: a row says what is summed of which events. Columns of reports, `metrics`, `sort`,
// `metric_list` and JSON come from these rows. Any thread.
#pragma once
#include <cstdint>
#include <span>
#include <string_view>

#include "reader/base/units.h"

namespace gnomon::reader {

enum class Quantity { time, bytes, count };

struct Metric {
  std::string_view key;    // er_print's, or in its manner
  std::string_view title;  // "Total CPU"
  std::string_view help;   // a sentence
  Quantity quantity;
  std::string_view event;  // name of an event kind, or kLeakEvent
  std::string_view field;  // of that kind, summed up; empty: events are counted
};

// An allocation of which no free was recorded. No record says so.
inline constexpr const char* kLeakEvent = "leak";

std::span<const Metric> metric_table();

// A metric's place in the table.
enum class MetricId : std::uint32_t {};
inline const Metric& row(MetricId id) { return metric_table()[index(id)]; }

// Those that the losses of a recording are told by.
inline constexpr MetricId kTotalCpu{0}, kTicks{1};
inline constexpr MetricId kAllocations{2}, kBytesAllocated{3}, kLeaks{4}, kBytesLeaked{5};
inline constexpr MetricId kSyncWait{6}, kSyncWaits{7};

}  // namespace gnomon::reader
