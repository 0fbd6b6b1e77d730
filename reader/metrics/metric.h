// Metrics: a row says what is summed of which events. Columns of reports, `metrics`, `sort`,
// `metric_list` and JSON come from these rows. Any thread.
#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "reader/base/units.h"

namespace gnomon::reader {

enum class Quantity { time, bytes, count };

// Events with one of some values in a field; of a kind without the field the value is 0.
struct Condition {
  std::string_view field = {};    // empty: all events
  std::uint32_t values = ~0u;     // bits 1 << value
  bool has_larger_values = true;  // than 31
  constexpr bool contains(std::uint64_t value) const {
    return value < 32 ? (values >> value & 1) != 0 : has_larger_values;
  }
};
using Conditions = std::array<Condition, 2>;

struct Metric {
  std::string_view key;    // er_print's, or in its manner
  std::string_view title;  // "Total CPU"
  std::string_view help;   // a sentence
  Quantity quantity;
  std::string_view event;         // name of an event kind, or kLeakEvent
  std::string_view field;         // of that kind, summed up; empty: events are counted
  Conditions conditions = {};     // all are true of the events that it is about
  std::string_view divisor = {};  // a field by whose value that of `field` is divided; empty: none
};

// An allocation of which no free was recorded. No record says so.
inline constexpr const char* kLeakEvent = "leak";
// How the process used CPUs.
inline constexpr const char* kUseEvent = "use";
// What names files.
inline constexpr const char* kFileEvent = "file";

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

// Those that the losses of a recording are told by.
inline constexpr MetricId kTotalCpu{0}, kTicks{1};
inline constexpr MetricId kUserCpu{2}, kSystemCpu{3};
inline constexpr MetricId kWaitCpu{4}, kUserLock{5}, kTotalThread{11};
inline constexpr MetricId kAllocations{13}, kBytesAllocated{14}, kLeaks{15}, kBytesLeaked{16};
inline constexpr MetricId kSyncWait{17}, kSyncWaits{18};
inline constexpr MetricId kAccesses{31}, kCalls{32};
// Returns true if the metric is a counter's.
constexpr bool is_counter(MetricId id) { return index(id) > index(kCalls); }
inline constexpr MetricId kBytesRead{19}, kReads{20}, kBytesWritten{22}, kWrites{23};
inline constexpr MetricId kOtherIo{25}, kIoWaits{27}, kIoErrors{29};

}  // namespace gnomon::reader
