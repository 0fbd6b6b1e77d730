// Who touches an object that is watched, or calls a function. Any thread, one at a time.
#pragma once
#include "reader/analysis/analysis.h"
#include "reader/analysis/view.h"
#include "reader/table/table.h"

namespace gnomon::reader {

enum class TouchedBy { function, line, stack, thread };

// Accesses to objects, or calls of functions, by watch; what has most comes first. Fault: nothing
// was watched.
Result<Table> accesses_report(Analysis& analysis, const View& view, TouchedBy by);
Result<Table> calls_report(Analysis& analysis, const View& view, TouchedBy by);

}  // namespace gnomon::reader
