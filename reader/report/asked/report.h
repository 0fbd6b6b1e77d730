// Reports: each turns an analysis into a table. Any thread, one at a time.
#pragma once
#include <cstddef>
#include <memory>
#include <optional>
#include <string>

#include "reader/analysis/analysis.h"
#include "reader/analysis/view.h"
#include "reader/base/result.h"
#include "reader/lines/disassembler.h"
#include "reader/report/asked/chosen_function.h"
#include "reader/report/asked/index_object.h"
#include "reader/report/asked/selection.h"
#include "reader/table/table.h"

namespace gnomon::reader {

// Functions with the listed metrics, <Total> first.
Result<Table> functions_report(Analysis& analysis, const View& view);

// The function of a row of that, from 1; <Total> does not count.
Result<Function> function_of_row(Analysis& analysis, const View& view, std::size_t number);

// Likewise lines and instructions; what has no line stands under its function.
Result<Table> lines_report(Analysis& analysis, const View& view);
Result<Table> pcs_report(Analysis& analysis, const View& view);
// All that is known of each of those, every metric among it.
Result<Table> fsummary_report(Analysis& analysis, const View& view);
Result<Table> lsummary_report(Analysis& analysis, const View& view);
Result<Table> psummary_report(Analysis& analysis, const View& view);
// The same of one function.
Result<Table> fsingle_report(Analysis& analysis, const View& view, const FunctionChoice& choice);

// For each function, in the order of `functions`, what its callers and its callees contribute.
Result<Table> callers_callees_report(Analysis& analysis, const View& view);

// The same of one function.
Result<Table> csingle_report(Analysis& analysis, const View& view, const FunctionChoice& choice);

// The source of a function, or of a file if the name is one's, with metrics beside its lines.
Result<Table> source_report(Analysis& analysis, const View& view, const FunctionChoice& choice);

// The instructions of a function, or of all functions of a file that were met, with metrics and
// source. pc: where the process has stopped in the selected frame. That instruction is marked, and
// addresses in its load object are those of the process.
Result<Table> disasm_report(Analysis& analysis, const View& view, const FunctionChoice& choice,
                            Disassembler& disassembler,
                            std::optional<std::uint64_t> pc = std::nullopt);

// Who calls whom, from <Total> down, heavy branches first. limit: the heaviest rows.
Result<Table> calltree_report(Analysis& analysis, const View& view);

// Load objects with the listed metrics, and which of their functions have names and are shown.
Result<Table> objects_report(Analysis& analysis, const View& view);
// All load objects, and how much of them is shown.
Table object_list(Analysis& analysis, const Expansions& expansions);
// Threads, CPUs or other objects of a kind, with exclusive metrics.
Result<Table> index_report(Analysis& analysis, const View& view, const IndexObject& object);
// The kinds that are there, those that the user has defined behind the others.
Table index_object_list(const std::vector<IndexObject>& defined);
// The properties of the experiment's events that filters can name.
Table describe_report(Analysis& analysis);
// What of the experiment can be selected, how much there is of it, and what is selected.
Result<Table> selection_list(Analysis& analysis, const View& view, const SelectionKind& kind,
                             const std::string& selected);
Table experiment_list(Analysis& analysis);

// What is recorded, how, and what was lost.
Table status_report(Analysis& analysis);

// The experiment's notes, then what was recorded, where and how.
Table header_report(Analysis& analysis);
// The total of each metric, and which are shown.
Table overview_report(Analysis& analysis, const View& view);
// How much has names and lines by load object, and what to do for the rest.
Result<Table> doctor_report(Analysis& analysis, const View& view);
// The samples, one a row.
Table samples_report(Analysis& analysis);
// What each sample adds to the one before, of the process and of its threads.
Table sample_detail_report(Analysis& analysis);
// What the process used of the system from the first sample to the last, as the kernel counts it,
// beside what <Total> says.
Table statistics_report(Analysis& analysis);

// The columns and the order of a view, and the metrics that can be listed: those that the
// experiment has data for, or all without one.
Table metric_list_report(const Analysis* analysis, const View& view);
// The first two lines of that.
std::string current_metrics(const View& view);

// The events of a kind, one a row, in the order in which they were written. Without a kind: the
// kinds and how many events of each there are. The rows are read while the table is printed;
// `analysis` must outlive it.
Result<Table> dump_report(Analysis& analysis, const View& view, const std::string& kind);

}  // namespace gnomon::reader
