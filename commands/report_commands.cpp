// Commands that report on an experiment, or choose what reports show. Any thread.
#include <fmt/format.h>

#include <array>

#include "commands/command.h"
#include "reader/report/report.h"
#include "reader/report/run_text.h"
#include "reader/symbols/display_name.h"

namespace gnomon::commands {
namespace {

using reader::Table;

Result<std::string> directory_of(Host& host, const Invocation& call) {
  return call.experiment ? Result<std::string>(*call.experiment) : host.experiment();
}

// The host's choice with the options of this call.
reader::View view_of(Host& host, const Invocation& call) {
  const Host::Choice& choice = host.choice();
  reader::View view = choice.view;
  if (call.metrics) view.show(*call.metrics);
  if (call.sort) view.sort = *call.sort;
  view.limit = call.limit.value_or(choice.limit.value_or(host.default_limit()));
  view.interrupt = host.interrupt();
  return view;
}

Result<reader::Analysis*> analysis_of(Host& host, const Invocation& call) {
  const auto directory = directory_of(host, call);
  if (!directory) return tl::unexpected(directory.error());
  return host.analysis(*directory, call.span);
}

// Renders a report, and names the experiment where the user may take it for another.
Result<Answer> render_report(Host& host, const Invocation& call, const reader::Analysis& analysis,
                             Table table) {
  const reader::Experiment& experiment = analysis.experiment();
  if (!call.experiment && !host.is_obvious(experiment))
    table.title.insert(0,
                       fmt::format("{}: {}, process {}\n", one_line(experiment.directory),
                                   reader::command_line(experiment.header), experiment.header.pid));
  return render(host, call, table);
}

Result<Answer> run_status(Host& host, const Invocation& call) {
  const std::string state = call.experiment ? "" : host.state();
  const auto directory = directory_of(host, call);
  if (!directory && state.empty()) return tl::unexpected(directory.error());
  Table table;
  table.columns = {{"item", {}}, {"value", {}}};
  if (directory) {
    const auto analysis = host.analysis(*directory);
    if (!analysis) return tl::unexpected(analysis.error());
    table = reader::status_report(**analysis);
  }
  if (!state.empty()) table.rows.insert(table.rows.begin(), {std::string("Collector"), state});
  return render(host, call, table);
}

// What is about an experiment and takes a view.
template <Result<Table> (*Report)(reader::Analysis&, const reader::View&)>
Result<Answer> run_report(Host& host, const Invocation& call) {
  const auto analysis = analysis_of(host, call);
  if (!analysis) return tl::unexpected(analysis.error());
  auto table = Report(**analysis, view_of(host, call));
  if (!table) return tl::unexpected(table.error());
  return render_report(host, call, **analysis, std::move(*table));
}

// Takes the first argument, if there is one, into the view by `take`; answers what is chosen then.
template <typename Parse, typename Take>
Result<Answer> choose(Host& host, const Invocation& call, Parse parse, Take take) {
  reader::View& view = host.choice().view;
  if (!call.arguments.empty()) {
    auto chosen = parse(call.arguments.front());
    if (!chosen) return tl::unexpected(chosen.error());
    take(view, std::move(*chosen));
  }
  return Answer{reader::current_metrics(view), {}};
}

// Likewise, but takes none.
template <Table (*Report)(reader::Analysis&)>
Result<Answer> run_plain_report(Host& host, const Invocation& call) {
  const auto analysis = analysis_of(host, call);
  if (!analysis) return tl::unexpected(analysis.error());
  return render_report(host, call, **analysis, Report(**analysis));
}

Result<Answer> run_overview(Host& host, const Invocation& call) {
  const auto analysis = analysis_of(host, call);
  if (!analysis) return tl::unexpected(analysis.error());
  return render(host, call, reader::overview_report(**analysis, view_of(host, call)));
}

Result<Answer> run_metrics(Host& host, const Invocation& call) {
  return choose(host, call, reader::parse_metrics,
                [](reader::View& view, reader::MetricList list) { view.show(std::move(list)); });
}

Result<Answer> run_sort(Host& host, const Invocation& call) {
  return choose(host, call, reader::parse_sort,
                [](reader::View& view, reader::Sort sort) { view.sort = sort; });
}

Result<Answer> run_limit(Host& host, const Invocation& call) {
  if (call.arguments.empty()) return fault("no number of rows is given", "0 shows all of them");
  const auto limit = whole_number(call.arguments.front());
  if (!limit)
    return fault(call.arguments.front() + " is not a number of rows", "0 shows all of them");
  host.choice().limit = *limit;
  return Answer{};
}

// Also before anything was recorded; then every metric is listed.
Result<Answer> run_metric_list(Host& host, const Invocation& call) {
  const reader::View view = view_of(host, call);
  const auto directory = directory_of(host, call);
  if (!directory) return render(host, call, reader::metric_list_report(nullptr, view));
  const auto analysis = host.analysis(*directory);
  if (!analysis) return tl::unexpected(analysis.error());
  return render(host, call, reader::metric_list_report(*analysis, view));
}

Result<Answer> run_dump(Host& host, const Invocation& call) {
  const auto analysis = analysis_of(host, call);
  if (!analysis) return tl::unexpected(analysis.error());
  auto table = reader::dump_report(**analysis, view_of(host, call),
                                   call.arguments.empty() ? "" : call.arguments.front());
  if (!table) return tl::unexpected(table.error());
  return render_report(host, call, **analysis, std::move(*table));
}

// NAME [NUMBER]
Result<Answer> run_csingle(Host& host, const Invocation& call) {
  std::size_t number = 0;
  if (call.arguments.size() > 1) {
    number = whole_number(call.arguments[1]).value_or(0);
    if (number == 0)
      return fault(call.arguments[1] + " is not the number of a function",
                   "functions are counted from 1");
  }
  const auto analysis = analysis_of(host, call);
  if (!analysis) return tl::unexpected(analysis.error());
  auto name = call.arguments.empty() ? host.function() : call.arguments.front();
  if (!name) return tl::unexpected(name.error());
  if (call.arguments.empty()) name = reader::display_name(name->c_str());
  auto table = reader::csingle_report(**analysis, view_of(host, call), *name, number);
  if (!table) return tl::unexpected(table.error());
  return render_report(host, call, **analysis, std::move(*table));
}

constexpr Options kMetrics = OptionId::metrics | OptionId::sort;
constexpr Options kSpan = OptionId::since | OptionId::between;
constexpr Options kAll = kListed | kMetrics | kSpan;

constexpr std::array kReports{
    Command{
        "functions", "", "", "Exclusive and inclusive metrics of functions.",
        "Exclusive: what the function itself used. Inclusive: what it and all it called used, "
        "counted once however often the function recurs on a call stack.\n\nThe clock of a thread "
        "counts what the kernel does for the thread as well: that time belongs to the function "
        "that called the kernel.\n",
        kAll, Role::report, 0, run_report<reader::functions_report>},
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
            kShown | kMetrics | kSpan, Role::report, 2, run_csingle},
    Command{"calltree", "ctree", "", "Who calls whom, with attributed metrics.",
            "From <Total> down, heavy branches first. The value of a call includes all below it. A "
            "limit keeps the heaviest calls.\n",
            kAll, Role::report, 0, run_report<reader::calltree_report>},
    Command{"metrics", "", "[LIST]", "Choose the columns of reports.",
            "LIST is KEY[:KEY...], and a KEY is FLAVOURS VISIBILITIES METRIC, such as e.%totalcpu. "
            "Flavours: e exclusive, i inclusive, a attributed, or several of them. Visibilities: . "
            "value, % share of the total, or both; ! hides. `metric_list` shows the metrics; `any` "
            "stands for all of them. Further KEYs are name, size and address; the name is always "
            "the last column. `default` is e.%totalcpu:i.%totalcpu:name. Without LIST: what is "
            "chosen.\n\nReports about calls show attributed values of the listed metrics, unless "
            "the list has keys with an a of its own.\n",
            kNoOptions, Role::view, 1, run_metrics},
    Command{"sort", "", "[METRIC]", "Choose the order of reports.",
            "METRIC is a KEY as in `metrics`, such as i.totalcpu, or name, size or address. A - "
            "before it reverses the order. Without METRIC: what is chosen.\n",
            kNoOptions, Role::view, 1, run_sort},
    Command{"limit", "", "N", "Limit later reports to N rows.",
            "As the option --limit of each of them; 0 shows all.\n", kNoOptions, Role::print_view,
            1, run_limit},
    Command{"metric_list", "", "", "The metrics that reports can show, and those they do.",
            "With an experiment: the metrics that it has data for.\n", kShown, Role::report, 0,
            run_metric_list},
    Command{"dump", "", "[KIND]", "The events of a kind, one a row.",
            "In the order in which they were written: that of time in each thread, but threads are "
            "mixed. Times count from the beginning of the recording. Without KIND: the kinds, and "
            "how many events of each there are.\n",
            kListed | kSpan, Role::report, 1, run_dump},
    Command{"header", "", "", "The experiment's notes, and what was recorded, where and how.",
            "Notes are the lines of the file `notes` in the experiment, which you may write "
            "yourself.\n",
            kShown, Role::report, 0, run_plain_report<reader::header_report>},
    Command{"overview", "", "", "The total of each metric, and which are shown.",
            "[X] marks the metrics that reports show. `metrics` chooses others.\n", kShown | kSpan,
            Role::report, 0, run_overview},
    Command{"samples", "", "", "The samples of the process's use of the system.",
            "A sample is what the kernel says of the process at an instant: at the start and the "
            "end of the recording, each second while the process runs, at each stop in the "
            "debugger, when you ask for one, and before the process executes another program. CPU "
            "since: what the process used since the sample before.\n",
            kShown | kSpan, Role::report, 0, run_plain_report<reader::samples_report>},
    Command{"sample_detail", "", "", "What each sample adds to the one before.",
            "CPU time, page faults, context switches and I/O of the process between the two, its "
            "memory at the sample, and the CPU time of each thread that ran. Context switches and "
            "waiting time of threads that began and ended between two samples are not in it.\n",
            kShown | kSpan, Role::report, 0, run_plain_report<reader::sample_detail_report>},
    Command{"statistics", "", "", "What the process used of the system, beside <Total>.",
            "From the first sample to the last: CPU time, page faults, context switches, I/O and "
            "memory as the kernel counts them, beside what the events say in <Total>. What the "
            "kernel does not tell is left out.\n",
            kShown | kSpan, Role::report, 0, run_plain_report<reader::statistics_report>},
    Command{"status", "", "", "What is recorded, how, and what was lost.", "", kShown, Role::report,
            0, run_status},
};

}  // namespace

std::span<const Command> report_commands() { return kReports; }

}  // namespace gnomon::commands
