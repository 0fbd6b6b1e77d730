// Reports of allocations. Any thread, one at a time.
#pragma once
#include "reader/analysis/analysis.h"
#include "reader/analysis/view.h"
#include "reader/table/table.h"

namespace gnomon::reader {

enum class HeapList { allocations, leaks, both };
// Allocations, leaks, or both, by call stack, the largest first. Fault: nothing of the heap was
// recorded.
Result<Table> heap_report(Analysis& analysis, const View& view, HeapList list);

}  // namespace gnomon::reader
