// Metrics: the rows of the table, and those of counters. Columns of reports, `metrics`, `sort`,
// `metric_list` and JSON come from these rows. Any thread.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "reader/base/units.h"
#include "reader/metrics/metric_rows.h"

namespace gnomon::reader {

// The metrics of events that Gnomon knows, then those of counters in the order in which
// know_counter() was told of them.
std::span<const Metric> metric_table();
inline constexpr std::size_t kMostMetrics = 128;

// Gives a counter a metric of its name, unless it has one or another metric has that name. is_time:
// its events weigh time, ns; else counts.
void know_counter(const std::string& name, const std::string& title, bool is_time);

// A metric's place in the table.
enum class MetricId : std::uint32_t {};
inline const Metric& row(MetricId id) { return metric_table()[index(id)]; }

consteval MetricId metric_with_key(std::string_view key) {
  for (std::uint32_t i = 0; i < kMetrics.size(); ++i)
    if (kMetrics[i].key == key) return MetricId{i};
  throw "there is no such metric";
}

// Rows that the code asks for by name.
inline constexpr MetricId kTotalCpu = metric_with_key("totalcpu");
inline constexpr MetricId kTicks = metric_with_key("ticks");
inline constexpr MetricId kUserCpu = metric_with_key("user");
inline constexpr MetricId kSystemCpu = metric_with_key("system");
inline constexpr MetricId kWaitCpu = metric_with_key("wait");
inline constexpr MetricId kUserLock = metric_with_key("lock");
inline constexpr MetricId kTotalThread = metric_with_key("total");
inline constexpr MetricId kAllocations = metric_with_key("heapalloccnt");
inline constexpr MetricId kBytesAllocated = metric_with_key("heapallocbytes");
inline constexpr MetricId kLeaks = metric_with_key("heapleakcnt");
inline constexpr MetricId kBytesLeaked = metric_with_key("heapleakbytes");
inline constexpr MetricId kSyncWait = metric_with_key("sync");
inline constexpr MetricId kSyncWaits = metric_with_key("syncn");
inline constexpr MetricId kBytesRead = metric_with_key("ioreadbytes");
inline constexpr MetricId kReads = metric_with_key("ioreadcnt");
inline constexpr MetricId kBytesWritten = metric_with_key("iowritebytes");
inline constexpr MetricId kWrites = metric_with_key("iowritecnt");
inline constexpr MetricId kOtherIo = metric_with_key("ioothercnt");
inline constexpr MetricId kIoWaits = metric_with_key("iowaitcnt");
inline constexpr MetricId kIoErrors = metric_with_key("ioerrorcnt");
inline constexpr MetricId kAccesses = metric_with_key("accesses");
inline constexpr MetricId kCalls = metric_with_key("calls");
// Returns true if the metric is a counter's.
constexpr bool is_counter(MetricId id) { return index(id) >= kMetrics.size(); }

}  // namespace gnomon::reader
