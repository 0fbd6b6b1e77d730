// What the process used of the system, as the kernel counts it, beside what <Total> says. Any
// thread.
#include <fmt/format.h>

#include "reader/report/asked/report.h"
#include "reader/report/process/figures.h"

namespace gnomon::reader {
namespace {

using format::Unit;

std::vector<Column> columns() {
  std::vector<Column> columns(4);
  columns[0].id = "item";
  columns[1] = {"process", {"Process"}, true, Type::number};
  columns[2] = {"total", {"<Total>"}, true, Type::number};
  columns[3].id = "unit";
  return columns;
}

void add(Table& table, std::string_view item, Unit unit, Cell process, Cell total = Empty{}) {
  Row row;
  row.emplace_back(std::string(item));
  row.push_back(std::move(process));
  row.push_back(std::move(total));
  row.emplace_back(unit_text(unit));
  table.rows.push_back(std::move(row));
}

}  // namespace

Table statistics_report(Analysis& analysis) {
  const auto samples = analysis.first().span_samples();
  const Experiment& experiment = analysis.experiment();
  Table table;
  table.title = fmt::format("Execution statistics for {}", experiment.directory);
  table.notes = process_notes(analysis);
  table.columns = columns();
  if (samples.empty()) return table;
  const Sample &first = samples.front(), &last = samples.back();
  add(table, "Begin, since the recording began", Unit::nanoseconds,
      since_start(experiment, first.time));
  add(table, "End", Unit::nanoseconds, since_start(experiment, last.time));
  add(table, "Duration", Unit::nanoseconds, Nanoseconds{last.time - first.time});
  const format::Figures span = between(first.figures, last.figures);
  // Linux adds the figures of /proc/PID/io of a child that was waited for to its parent's.
  if (const std::uint64_t children = figure(span, format::Figure::children);
      children != format::kUnknownFigure && children != 0)
    table.notes.emplace_back(
        "reads, writes and their bytes are also those of child processes that have ended: the "
        "kernel counts them together.");
  for (const format::FigureRow& row : format::kFigures) {
    Cell value = figure_cell(figure(span, row.figure), row.unit), total = Empty{};
    if (row.figure == format::Figure::cpu) total = Nanoseconds{analysis.sums().total(kTotalCpu)};
    if (!std::holds_alternative<Empty>(value) || !std::holds_alternative<Empty>(total))
      add(table, row.title, row.unit, std::move(value), std::move(total));
  }
  return table;
}

}  // namespace gnomon::reader
