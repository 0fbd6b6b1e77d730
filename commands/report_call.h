// What the commands that report on an experiment share. Any thread.
#pragma once
#include <string>

#include "commands/command.h"
#include "reader/report/report.h"

namespace gnomon::commands {

// Options that choose events, and those of lists of items.
constexpr Options kEvents = OptionId::since | OptionId::between | OptionId::filter |
                            OptionId::thread | OptionId::cpu | OptionId::function;
constexpr Options kSpan = OptionId::since | OptionId::between;
constexpr Options kMetrics = OptionId::metrics | OptionId::sort;
constexpr Options kAll = kListed | kMetrics | kEvents;

Result<std::string> directory_of(Host& host, const Invocation& call);
// The host's choice with the options of the call.
reader::View view_of(Host& host, const Invocation& call);
// Of the events that the host's choice and the options of the call leave.
Result<reader::Analysis*> analysis_of(Host& host, const Invocation& call);
// Of all events of the span, whatever the host's choice.
Result<reader::Analysis*> all_events(Host& host, const Invocation& call);
// Renders a report, and names the experiment where the user may take it for another.
Result<Answer> render_report(Host& host, const Invocation& call, const reader::Analysis& analysis,
                             reader::Table table);

// report(analysis, view): a table, or a fault.
template <typename Report>
Result<Answer> report_by(Host& host, const Invocation& call,
                         const Result<reader::Analysis*>& analysis, Report report) {
  if (!analysis) return tl::unexpected(analysis.error());
  Result<reader::Table> table = report(**analysis, view_of(host, call));
  if (!table) return tl::unexpected(table.error());
  return render_report(host, call, **analysis, std::move(*table));
}
template <typename Report>
Result<Answer> report_by(Host& host, const Invocation& call, Report report) {
  return report_by(host, call, analysis_of(host, call), report);
}

// What takes a view, and what takes none.
template <Result<reader::Table> (*Report)(reader::Analysis&, const reader::View&)>
Result<Answer> run_report(Host& host, const Invocation& call) {
  return report_by(host, call, Report);
}
template <reader::Table (*Report)(reader::Analysis&)>
Result<Answer> run_plain_report(Host& host, const Invocation& call) {
  return report_by(
      host, call, [](reader::Analysis& analysis, const reader::View&) { return Report(analysis); });
}

}  // namespace gnomon::commands
