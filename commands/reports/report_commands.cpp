// Commands that report on an experiment, or choose what reports show. Any thread.
#include <fmt/format.h>

#include <array>

#include "commands/reports/report_call.h"
#include "reader/report/asked/report.h"
#include "reader/symbols/display_name.h"

namespace gnomon::commands {
namespace {

using reader::Row;
using reader::Table;

Result<Answer> run_status(Host& host, const Invocation& call) {
  const std::string state = call.experiments.empty() ? host.state() : "";
  const auto directories = directories_of(host, call);
  if (!directories && state.empty()) return tl::unexpected(directories.error());
  const Row collector{std::string("Collector"), state};
  if (!directories) {
    Table table;
    table.columns = {{"item", {}}, {"value", {}}};
    table.rows.push_back(collector);
    return render(host, call, table);
  }
  Answer all;
  for (const std::string& directory : *directories) {
    const auto analysis = host.analysis({directory}, {{}, {}, host.choice().view.style});
    if (!analysis) return tl::unexpected(analysis.error());
    // Reports leave some notes on the profile to `status`.
    if (host.notes_said())
      if (auto read = (*analysis)->profile(host.interrupt()); !read)
        return tl::unexpected(read.error());
    Table table = reader::status_report(**analysis);
    if (!state.empty()) table.rows.insert(table.rows.begin(), collector);
    auto answer = render(host, call, table);
    if (!answer) return answer;
    append(all, std::move(*answer));
  }
  return all;
}

Result<Answer> run_overview(Host& host, const Invocation& call) {
  const auto analysis = analysis_of(host, call);
  if (!analysis) return tl::unexpected(analysis.error());
  return render(host, call, reader::overview_report(**analysis, view_of(host, call)));
}

// Also before anything was recorded; then every metric is listed.
Result<Answer> run_metric_list(Host& host, const Invocation& call) {
  const reader::View view = view_of(host, call);
  const auto directories = directories_of(host, call);
  if (!directories) return render(host, call, reader::metric_list_report(nullptr, view));
  const auto analysis = host.analysis(*directories, {{}, {}, host.choice().view.style});
  if (!analysis) return tl::unexpected(analysis.error());
  return render(host, call, reader::metric_list_report(*analysis, view));
}

Result<Answer> run_dump(Host& host, const Invocation& call) {
  const std::string kind = call.arguments.empty() ? "" : call.arguments.front();
  return report_each(host, call, [&](reader::Analysis& analysis, const reader::View& view) {
    return reader::dump_report(analysis, view, kind);
  });
}

// NUMBER of NAME [NUMBER]; 0: none is given.
Result<std::size_t> number_of(const Invocation& call) {
  if (call.arguments.size() < 2) return 0;
  const std::size_t number = whole_number(call.arguments[1]).value_or(0);
  if (number != 0) return number;
  return fault(call.arguments[1] + " is not the number of a function",
               "functions are counted from 1");
}

// Without NAME the host's function.
Result<std::string> name_of(Host& host, const Invocation& call) {
  if (!call.arguments.empty()) return call.arguments.front();
  const auto symbol = host.function();
  if (!symbol) return tl::unexpected(symbol.error());
  return reader::display_name(symbol->c_str());
}

// What is about one function or file. report(analysis, view, choice)
template <typename Report>
Result<Answer> about_function(Host& host, const Invocation& call, Report report) {
  const auto number = number_of(call);
  if (!number) return tl::unexpected(number.error());
  const auto analysis = analysis_of(host, call);
  if (!analysis) return tl::unexpected(analysis.error());
  const auto name = name_of(host, call);
  if (!name) return tl::unexpected(name.error());
  auto table = report(**analysis, view_of(host, call), reader::FunctionChoice{*name, *number});
  if (!table) return tl::unexpected(table.error());
  return render_report(host, call, **analysis, std::move(*table));
}

template <Result<Table> (*Report)(reader::Analysis&, const reader::View&,
                                  const reader::FunctionChoice&)>
Result<Answer> run_of_function(Host& host, const Invocation& call) {
  return about_function(host, call, Report);
}

// Where the selected frame of an experiment's process has stopped; none: it runs, or is another.
std::optional<std::uint64_t> pc_of(Host& host, const reader::Analysis& analysis) {
  if (host.progress(analysis.experiment()) != reader::Progress::stopped) return std::nullopt;
  const auto backtrace = host.backtrace();
  if (!backtrace) return std::nullopt;
  for (const reader::BacktraceFrame& frame : *backtrace)
    if (frame.is_selected) return frame.pc;
  return std::nullopt;
}

Result<Answer> run_disasm(Host& host, const Invocation& call) {
  const auto report = [&](reader::Analysis& analysis, const reader::View& view,
                          const reader::FunctionChoice& choice) -> Result<Table> {
    const auto disassembler = host.disassembler();
    if (!disassembler) return tl::unexpected(disassembler.error());
    return reader::disasm_report(analysis, view, choice, **disassembler, pc_of(host, analysis));
  };
  return about_function(host, call, report);
}

constexpr std::array kReports{
    Command{"pcs", "", "", "Exclusive and inclusive metrics of instructions.",
            "By function and distance from its begin. A caller counts for its call instruction. "
            "The clock finds a thread at the instruction that runs next, which often stands behind "
            "a slow one.\n",
            kAll, Role::report, 0, run_list<reader::pcs_report>},
    Command{"source", "src", "[FUNCTION|FILE [NUMBER]]",
            "The source of a function or file, with metrics beside its lines.",
            "Of a function the lines from its first to its last, of a file all. What was inlined "
            "counts for the line of the call. ## marks hot lines (`sthresh`). FUNCTION as in "
            "`csingle`; FILE is a path or its end. Without either: the function of the selected "
            "frame.\n",
            kShown | kMetrics | kEvents, Role::report, 2, run_of_function<reader::source_report>},
    Command{"disasm", "dis", "[FUNCTION|FILE [NUMBER]]",
            "The instructions of a function or of a file's functions, with metrics.",
            "Before each its line in [ ], [?] if there is none, and its address: in the file, or "
            "in the process where it has stopped, whose place is marked by ->. The source stands "
            "between them. Jumps and calls say where they lead. A caller counts for "
            "its call instruction; the clock finds a thread at the instruction that runs next. ## "
            "marks hot instructions (`dthresh`). The operands are FUNCTION and FILE of `source`.\n",
            kShown | kMetrics | kEvents, Role::report, 2, run_disasm},
    Command{"fsummary", "", "", "All that is known of functions, a block each.",
            "Every metric with its share, size, address, source file, compilation unit, load "
            "object, the name as the file has it, and other names of the same code.\n",
            kAll, Role::report, 0, run_report<reader::fsummary_report>},
    Command{"fsingle", "", "[NAME [NUMBER]]", "All that is known of one function.",
            "As in `fsummary`. NAME and NUMBER as in `csingle`.\n", kShown | kMetrics | kEvents,
            Role::report, 2, run_of_function<reader::fsingle_report>},
    Command{"lsummary", "", "", "All that is known of source lines, a block each.",
            "As `lines`, with every metric.\n", kAll, Role::report, 0,
            run_report<reader::lsummary_report>},
    Command{"psummary", "", "", "All that is known of instructions, a block each.",
            "As `pcs`, with every metric.\n", kAll, Role::report, 0,
            run_report<reader::psummary_report>},
    Command{
        "callers-callees", "gprof", "", "What callers and callees contribute to functions.",
        "One panel a function, heavy ones first: its callers, the function itself marked with "
        "*, its callees. The attributed values of the callers sum up to the inclusive value "
        "of the function; so do its own and those of the callees. Of a function that recurs on a "
        "call stack the innermost call counts.\n",
        kAll, Role::report, 0, run_report<reader::callers_callees_report>},
    Command{"csingle", "", "[NAME [NUMBER]]",
            "What callers and callees contribute to one function.",
            "NAME as in `functions`, or its end, without parameters if you like. Where it means "
            "several functions NUMBER says which. Without NAME: the function of the selected "
            "frame.\n",
            kShown | kMetrics | kEvents, Role::report, 2, run_of_function<reader::csingle_report>},
    Command{"calltree", "ctree", "", "Who calls whom, with attributed metrics.",
            "From <Total> down, heavy branches first. The value of a call includes all below it. A "
            "limit keeps the heaviest calls.\n",
            kAll, Role::report, 0, run_report<reader::calltree_report>},
    Command{"metric_list", "cmetric_list gmetric_list indx_metric_list", "",
            "The metrics that reports can show, and those they do.",
            "With an experiment: the metrics that it has data for.\n", kShown, Role::report, 0,
            run_metric_list},
    Command{"dump", "", "[KIND]", "The events of a kind, one a row.",
            "In the order in which they were written: that of time in each thread, but threads are "
            "mixed. Times count from the beginning of the recording. Without KIND: the kinds, and "
            "how many events of each there are.\n",
            kListed | kEvents, Role::report, 1, run_dump},
    Command{"header", "", "", "The experiment's notes, and what was recorded, where and how.",
            "Notes are the lines of the file `notes` in the experiment, which you may write "
            "yourself.\n",
            kShown, Role::report, 0, run_each<reader::header_report>},
    Command{"overview", "", "", "The total of each metric, and which are shown.",
            "[X] marks the metrics that reports show. `metrics` chooses others.\n",
            kShown | kEvents, Role::report, 0, run_overview},
    Command{"doctor", "", "", "How much has names and source lines, and what to do for the rest.",
            "By load object, as shares of the first metric that reports show, exclusive values. "
            "Debug information that debuginfod-find has fetched is found afterwards; no server is "
            "asked here.\n",
            kShown | OptionId::metrics | kEvents, Role::report, 0,
            run_report<reader::doctor_report>},
    Command{"samples", "", "", "The samples of the process's use of the system.",
            "A sample is what the kernel says of the process at an instant: at the start and the "
            "end of the recording, each second while the process runs, at each stop in the "
            "debugger, when you ask for one, and before the process executes another program. CPU "
            "since: what the process used since the sample before.\n",
            kShown | kSpan, Role::report, 0, run_each<reader::samples_report>},
    Command{"sample_detail", "", "", "What each sample adds to the one before.",
            "CPU time, page faults, context switches and I/O of the process between the two, its "
            "memory at the sample, and the CPU time of each thread that ran. Context switches and "
            "waiting time of threads that began and ended between two samples are not in it.\n",
            kShown | kSpan, Role::report, 0, run_each<reader::sample_detail_report>},
    Command{"statistics", "", "", "What the process used of the system, beside <Total>.",
            "From the first sample to the last: CPU time, page faults, context switches, I/O and "
            "memory as the kernel counts them, beside what the events say in <Total>. What the "
            "kernel does not tell is left out.\n",
            kShown | kSpan, Role::report, 0, run_each<reader::statistics_report>},
    Command{"status", "", "", "What is recorded, how, and what was lost.", "", kShown, Role::report,
            0, run_status},
};

}  // namespace

std::span<const Command> report_commands() { return kReports; }

}  // namespace gnomon::commands
