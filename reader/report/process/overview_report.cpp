// What an experiment holds: the total of each metric, and which are shown. Any thread.
#include <fmt/format.h>

#include <algorithm>

#include "reader/report/asked/report.h"
#include "reader/report/base/columns.h"
#include "reader/report/base/run_text.h"
#include "reader/report/notes/losses.h"
#include "reader/report/process/figures.h"

namespace gnomon::reader {
namespace {

bool is_shown(const MetricList& metrics, MetricId metric) {
  return std::any_of(metrics.columns.begin(), metrics.columns.end(), [&](const auto& each) {
    const auto* column = std::get_if<MetricColumn>(&each);
    return column && column->metric == metric;
  });
}

Cell total_cell(const Metric& metric, std::uint64_t total) {
  Cell cell(total);
  if (metric.quantity == Quantity::time) cell = Nanoseconds{total};
  return cell;
}

}  // namespace

Table overview_report(Analysis& analysis, const View& view) {
  Table table;
  for (const auto& part : analysis.parts()) {
    const Experiment& experiment = part->experiment();
    table.title += fmt::format("{}Overview of {}\n{}: {}", table.title.empty() ? "" : "\n",
                               one_line(experiment.directory), command_line(experiment.header),
                               recording_state(experiment, part->instants().log));
  }
  table.notes = loss_notes(analysis, nullptr);
  table.columns = {{"shown", {"Shown"}},
                   {"key", {"Key"}},
                   {"total", {"<Total>"}, true, Type::count},
                   {"title", {"Metric"}}};
  const MetricList shown = with_counters(view.metrics, analysis.sums());
  for (std::uint32_t m = 0; m < metric_table().size(); ++m) {
    const MetricId metric{m};
    if (!is_available(metric, analysis.sums())) continue;
    table.rows.push_back(
        {std::string(is_shown(shown, metric) ? "[X]" : "[ ]"), std::string(row(metric).key),
         total_cell(row(metric), analysis.sums().total(metric)), std::string(row(metric).title)});
  }
  return table;
}

}  // namespace gnomon::reader
