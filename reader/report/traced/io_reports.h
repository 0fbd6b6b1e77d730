// Reports of I/O. Any thread, one at a time.
#pragma once
#include "reader/analysis/analysis.h"
#include "reader/analysis/view.h"
#include "reader/table/table.h"

namespace gnomon::reader {

// Each returns a fault if no I/O was recorded. What took longest comes first.

// By name of file; or by each time that one was opened, with its descriptor.
Result<Table> io_files_report(Analysis& analysis, const View& view, bool by_descriptor);

// By call stack.
Result<Table> io_stacks_report(Analysis& analysis, const View& view);

// By operation, with the sizes of what was read and written, and why calls failed.
Result<Table> io_statistics_report(Analysis& analysis, const View& view);

}  // namespace gnomon::reader
