// Reports about the place where a debugger has stopped the program. Any thread, one at a time.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "reader/analysis/analysis.h"
#include "reader/analysis/view.h"
#include "reader/base/result.h"
#include "reader/report/stop/backtrace.h"
#include "reader/table/table.h"

namespace gnomon::reader {

// The frames, with metrics of each one's function, of its calls by the frame behind it, and of
// exactly this call path. By the first metric of the view.
Result<Table> where_report(Analysis& analysis, const View& view, const Backtrace& backtrace);

// Exclusive values of the functions in a part of a recording, by the first metric of the view.
struct Recent {
  std::uint64_t total = 0;
  std::map<std::string, std::uint64_t> by_function;  // of those that have a value
};
Result<Recent> recent_values(Analysis& analysis, const View& view);

// The hottest functions, each with a bar, and with what `recent` says of it (none: not known). By
// the first metric of the view.
Result<Table> hot_report(Analysis& analysis, const View& view, const std::optional<Recent>& recent);

// The source around the line of the selected frame, of which there is one: so many lines before and
// behind, with metrics.
Result<Table> around_report(Analysis& analysis, const View& view, const Backtrace& backtrace,
                            std::uint32_t lines);

}  // namespace gnomon::reader
