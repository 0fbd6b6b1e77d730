// Metrics: a row says what is summed of which events. Columns of reports, `metrics`, `sort`,
// `metric_list` and JSON come from these rows. Any thread.
#pragma once
#include <cstdint>
#include <span>
#include <string_view>

#include "reader/base/units.h"

namespace gnomon::reader {

enum class Quantity { time, bytes, count };

// Calls that do I/O: those of some operations that have not failed, or those that have. Empty: all.
struct IoChoice {
  std::uint32_t operations = 0;  // bits 1 << format::IoOperation
  bool failed = false;
  constexpr bool is_empty() const { return operations == 0 && !failed; }
  constexpr bool contains(std::uint64_t operation, std::uint64_t error) const {
    if (failed || error != 0) return failed && error != 0;
    return (operations >> (operation & 31) & 1) != 0;
  }
};

struct Metric {
  std::string_view key;    // er_print's, or in its manner
  std::string_view title;  // "Total CPU"
  std::string_view help;   // a sentence
  Quantity quantity;
  std::string_view event;  // name of an event kind, or kLeakEvent
  std::string_view field;  // of that kind, summed up; empty: events are counted
  IoChoice calls = {};     // of I/O: which ones
};

// An allocation of which no free was recorded. No record says so.
inline constexpr const char* kLeakEvent = "leak";
// What names files.
inline constexpr const char* kFileEvent = "file";

std::span<const Metric> metric_table();

// A metric's place in the table.
enum class MetricId : std::uint32_t {};
inline const Metric& row(MetricId id) { return metric_table()[index(id)]; }

// Those that the losses of a recording are told by.
inline constexpr MetricId kTotalCpu{0}, kTicks{1};
inline constexpr MetricId kAllocations{2}, kBytesAllocated{3}, kLeaks{4}, kBytesLeaked{5};
inline constexpr MetricId kSyncWait{6}, kSyncWaits{7};
inline constexpr MetricId kBytesRead{8}, kReads{9}, kBytesWritten{11}, kWrites{12};

}  // namespace gnomon::reader
