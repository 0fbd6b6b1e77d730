// What the commands that report on experiments share. Any thread.
#pragma once
#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "commands/base/command.h"
#include "reader/report/asked/report.h"
#include "reader/report/base/compare.h"

namespace gnomon::commands {

// Options that choose events, and those of lists of items.
constexpr Options kEvents = OptionId::since | OptionId::between | OptionId::filter |
                            OptionId::thread | OptionId::cpu | OptionId::function |
                            OptionId::parallelism;
constexpr Options kSpan = OptionId::since | OptionId::between;
constexpr Options kMetrics = OptionId::metrics | OptionId::sort;
constexpr Options kAll = kListed | kMetrics | kEvents;

using Directories = std::vector<std::string>;

// The experiments that the call names, else the host's: those of each name, which may be a group's.
Result<std::vector<Directories>> groups_of(Host& host, const Invocation& call);
// Likewise all of them, each once.
Result<Directories> directories_of(Host& host, const Invocation& call);
// The host's choice with the options of the call.
reader::View view_of(Host& host, const Invocation& call);
// Of the events that the host's choice and the options of the call leave.
Result<reader::Analysis*> analysis_of(Host& host, const Invocation& call,
                                      const Directories& directories);
Result<reader::Analysis*> analysis_of(Host& host, const Invocation& call);
// Of all events of the span, whatever the host's choice.
Result<reader::Analysis*> all_events(Host& host, const Invocation& call);
// Renders a report, and names the experiment where the user may take it for another.
Result<Answer> render_report(Host& host, const Invocation& call, const reader::Analysis& analysis,
                             reader::Table table);
// Adds what a command answered later.
void append(Answer& all, Answer more);

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

// A report about one experiment: of several one after the other.
template <typename Report>
Result<Answer> report_each(Host& host, const Invocation& call, Report report) {
  const auto directories = directories_of(host, call);
  if (!directories) return tl::unexpected(directories.error());
  Answer all;
  for (const std::string& directory : *directories) {
    auto answer = report_by(host, call, analysis_of(host, call, {directory}), report);
    if (!answer) return answer;
    append(all, std::move(*answer));
  }
  return all;
}

// A list of items: of several experiments as the host's choice compares them.
template <typename Report>
Result<Answer> report_list(Host& host, const Invocation& call, Report report) {
  const reader::Comparison how = host.choice().comparison;
  if (how == reader::Comparison::off) return report_by(host, call, report);
  const auto groups = groups_of(host, call);
  if (!groups) return tl::unexpected(groups.error());
  if (groups->size() < 2) return report_by(host, call, report);
  reader::View view = view_of(host, call);
  const std::size_t limit = std::exchange(view.limit, 0);
  std::vector<reader::Compared> lists;
  for (const Directories& group : *groups) {
    const auto analysis = analysis_of(host, call, group);
    if (!analysis) return tl::unexpected(analysis.error());
    Result<reader::Table> table = report(**analysis, view);
    if (!table) return tl::unexpected(table.error());
    lists.push_back({group.size() == 1
                         ? group.front()
                         : fmt::format("{} and {} more", group.front(), group.size() - 1),
                     std::move(*table)});
  }
  const auto table = reader::compare(lists, how, view.sort, limit, view.interrupt);
  if (!table) return tl::unexpected(table.error());
  return render(host, call, *table);
}

// What takes a view, and what takes none.
template <Result<reader::Table> (*Report)(reader::Analysis&, const reader::View&)>
Result<Answer> run_report(Host& host, const Invocation& call) {
  return report_by(host, call, Report);
}
template <Result<reader::Table> (*Report)(reader::Analysis&, const reader::View&)>
Result<Answer> run_list(Host& host, const Invocation& call) {
  return report_list(host, call, Report);
}
template <reader::Table (*Report)(reader::Analysis&)>
Result<Answer> run_plain_report(Host& host, const Invocation& call) {
  return report_by(
      host, call, [](reader::Analysis& analysis, const reader::View&) { return Report(analysis); });
}
template <reader::Table (*Report)(reader::Analysis&)>
Result<Answer> run_each(Host& host, const Invocation& call) {
  return report_each(
      host, call, [](reader::Analysis& analysis, const reader::View&) { return Report(analysis); });
}

}  // namespace gnomon::commands
