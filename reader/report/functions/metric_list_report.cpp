// The metrics that can be listed, and which are. Any thread.
#include <fmt/format.h>

#include "reader/report/asked/report.h"
#include "reader/report/base/columns.h"
#include "reader/report/notes/losses.h"

namespace gnomon::reader {

std::string current_metrics(const View& view) {
  return fmt::format("Current metrics: {}\nCurrent Sort Metric: {} ( {} )\n", view.metrics.text(),
                     view.sort.title(), view.sort.text());
}

Table metric_list_report(const Analysis* analysis, const View& view) {
  Table table;
  table.title = current_metrics(view) + "Available metrics:";
  table.columns = {{"title", {}}, {"key", {}}, {"meaning", {}}};
  if (analysis) table.notes = loss_notes(*analysis, nullptr, false);
  for (std::uint32_t m = 0; m < metric_table().size(); ++m) {
    const MetricId metric{m};
    if (analysis && !is_available(metric, analysis->sums())) continue;
    for (const Flavour flavour : {Flavour::exclusive, Flavour::inclusive})
      table.rows.push_back({Sort{MetricColumn{flavour, metric, false}}.title(),
                            fmt::format("{}.%{}", static_cast<char>(flavour), row(metric).key),
                            std::string(row(metric).help)});
  }
  table.rows.push_back(
      {std::string("Size"), std::string("size"), std::string("Bytes of code of the function.")});
  table.rows.push_back({std::string("PC Address"), std::string("address"),
                        std::string("Address of the function in its load object's file.")});
  table.rows.push_back({std::string("Name"), std::string("name"),
                        std::string("Name of the function; always shown, as the last column.")});
  return table;
}

}  // namespace gnomon::reader
