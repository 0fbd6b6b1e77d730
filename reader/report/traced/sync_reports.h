// Reports of waits for other threads. Any thread, one at a time.
#pragma once
#include "reader/analysis/analysis.h"
#include "reader/analysis/view.h"
#include "reader/table/table.h"

namespace gnomon::reader {

// Each returns a fault if no wait was recorded.

// What was waited for, and where; what cost most comes first.
Result<Table> sync_report(Analysis& analysis, const View& view);

// Waits by call stack, and what the threads did meanwhile that held what was waited for.
Result<Table> blockers_report(Analysis& analysis, const View& view);

}  // namespace gnomon::reader
