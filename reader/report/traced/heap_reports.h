// Reports of allocations. Any thread, one at a time.
#pragma once
#include <cstdint>

#include "reader/analysis/analysis.h"
#include "reader/analysis/view.h"
#include "reader/table/table.h"

namespace gnomon::reader {

// Each returns a fault if nothing of the heap was recorded.

enum class HeapList { allocations, leaks, both };
// Allocations, leaks, or both, by call stack, the largest first.
Result<Table> heap_report(Analysis& analysis, const View& view, HeapList list);

// What is allocated now, or was at the end, by call stack, with its age; if it is at least as old
// as `older_than`, ns.
Result<Table> live_report(Analysis& analysis, const View& view, std::uint64_t older_than);

// Totals, the peak with its call stacks, sizes, and what did not last.
Result<Table> heap_statistics_report(Analysis& analysis, const View& view);

// The newest block that an address lay in: where it was allocated, and freed. analysis: of all
// events.
Result<Table> address_report(Analysis& analysis, const View& view, std::uint64_t address);

}  // namespace gnomon::reader
