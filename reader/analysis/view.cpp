// What a report shows, as the user chose it. Any thread.
#include "reader/analysis/view.h"

#include <algorithm>
#include <utility>

namespace gnomon::reader {
namespace {

// A static column, or the values of a listed metric in that flavour, also if only their shares
// show.
bool shows(const MetricList& list, const Sort& sort) {
  const auto* by = std::get_if<MetricColumn>(&sort.by);
  return !by || std::any_of(list.columns.begin(), list.columns.end(), [&](const auto& each) {
    const auto* column = std::get_if<MetricColumn>(&each);
    return column && column->metric == by->metric && column->flavour == by->flavour;
  });
}

}  // namespace

Sort first_sort(const MetricList& list) {
  for (const auto& each : list.columns)
    if (const auto* column = std::get_if<MetricColumn>(&each))
      return {MetricColumn{column->flavour, column->metric, false}};
  return {Static::name};
}

void View::show(MetricList list) {
  metrics = std::move(list);
  if (!shows(metrics, sort)) sort = first_sort(metrics);
}

}  // namespace gnomon::reader
