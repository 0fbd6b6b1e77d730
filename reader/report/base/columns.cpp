// The columns of reports on functions, made from a metric list. Any thread.
#include "reader/report/base/columns.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <tuple>
#include <utility>

namespace gnomon::reader {
namespace {

using AnyColumn = std::variant<MetricColumn, Static>;

template <typename Keep>
MetricList filtered(const MetricList& list, Keep keep) {
  MetricList kept;
  for (const AnyColumn& column : list.columns)
    if (keep(column)) kept.columns.push_back(column);
  return kept;
}

std::string_view short_word(Flavour flavour) {
  return flavour == Flavour::exclusive   ? "Excl."
         : flavour == Flavour::inclusive ? "Incl."
                                         : "Attr.";
}

Type type_of(Quantity quantity) {
  switch (quantity) {
    case Quantity::time:
      return Type::time;
    case Quantity::bytes:
      return Type::bytes;
    case Quantity::count:
      return Type::count;
  }
  return Type::count;
}

std::vector<std::string> value_title(const MetricColumn& column) {
  const Metric& metric = row(column.metric);
  std::vector<std::string> title{std::string(short_word(column.flavour)),
                                 std::string(metric.title)};
  if (metric.quantity == Quantity::time) title.emplace_back("sec.");
  if (metric.quantity == Quantity::bytes) title.emplace_back("bytes");
  return title;
}

// A share right behind its own value needs no title of its own.
Column column_of(const MetricColumn& column, const AnyColumn* before) {
  const Metric& metric = row(column.metric);
  if (!column.is_percent)
    return {column_id(column), value_title(column), true, type_of(metric.quantity)};
  MetricColumn value = column;
  value.is_percent = false;
  if (before && *before == AnyColumn(value))
    return {column_id(column), {"", "", "%"}, true, Type::percent};
  return {column_id(column),
          {std::string(short_word(column.flavour)), std::string(metric.title), "%"},
          true,
          Type::percent};
}

Column column_of(Static id) {
  switch (id) {
    case Static::name:
      return {"name", {"Name"}, true, Type::text};
    case Static::size:
      return {"size", {"Size", "", "bytes"}, true, Type::bytes};
    case Static::address:
      return {"address", {"PC Addr."}, true, Type::address};
  }
  return {};
}

bool is_attributed(const AnyColumn& each) {
  const auto* column = std::get_if<MetricColumn>(&each);
  return column && column->flavour == Flavour::attributed;
}

bool is_share_of_listed(const MetricList& list, const AnyColumn& each) {
  const auto* column = std::get_if<MetricColumn>(&each);
  if (!column || !column->is_percent) return false;
  MetricColumn value = *column;
  value.is_percent = false;
  return std::find(list.columns.begin(), list.columns.end(), AnyColumn(value)) !=
         list.columns.end();
}

}  // namespace

std::string column_id(const MetricColumn& column) {
  std::string flavour(word(column.flavour));
  flavour[0] = static_cast<char>(std::tolower(flavour[0]));
  return fmt::format("{}_{}{}", flavour, row(column.metric).key,
                     column.is_percent ? "_percent" : "");
}

std::vector<MetricId> counters_in(const AllSums& sums) {
  std::vector<MetricId> found;
  for (std::uint32_t m = index(kCalls) + 1; m < metric_table().size(); ++m)
    if (sums.has(MetricId{m})) found.push_back(MetricId{m});
  return found;
}

// A recording without a clock that counts something is about that.
bool is_available(MetricId metric, const AllSums& sums) {
  if (sums.has(metric)) return true;
  return (metric == kTotalCpu || metric == kTicks) && counters_in(sums).empty();
}

// What nobody has chosen shows counters as well.
MetricList with_counters(const MetricList& list, const AllSums& sums) {
  const std::vector<MetricId> counters = counters_in(sums);
  if (counters.empty() || list.columns != default_metrics().columns) return list;
  MetricList all;
  const auto add = [&](Flavour flavour, MetricId metric) {
    for (const bool is_percent : {false, true})
      all.columns.push_back(MetricColumn{flavour, metric, is_percent});
  };
  const bool has_clock = sums.has(kTotalCpu);
  const MetricId first = has_clock ? kTotalCpu : counters.front();
  add(Flavour::exclusive, first);
  add(Flavour::inclusive, first);
  for (const MetricId counter : counters)
    if (counter != first) add(Flavour::exclusive, counter);
  all.columns.push_back(Static::name);
  return all;
}

MetricId leading_metric(const Shown& shown) {
  const std::vector<MetricId> metrics = shown.metrics.metrics();
  return metrics.empty() ? kTotalCpu : metrics.front();
}

Result<Shown> shown(const View& view, const AllSums& sums) {
  const auto is_there = [&](const AnyColumn& each) {
    const auto* column = std::get_if<MetricColumn>(&each);
    return !column || is_available(column->metric, sums);
  };
  const MetricList wanted = with_counters(view.metrics, sums);
  Shown shown{filtered(wanted, is_there), view.sort, {}};
  std::vector<MetricId> missing;
  for (const MetricId metric : wanted.metrics())
    if (!is_available(metric, sums)) missing.push_back(metric);
  for (const MetricId metric : missing)
    shown.notes.push_back(fmt::format("the experiment has no data for the metric {} ({}).",
                                      row(metric).key, row(metric).title));
  if (!missing.empty() && shown.metrics.metrics().empty())
    return fault(fmt::format("the experiment has no data for the metric {}", row(missing[0]).key),
                 "`metric_list` shows those that it has data for");
  if (!is_there(view.sort.by)) shown.sort = first_sort(shown.metrics);
  return shown;
}

MetricList of_items(const MetricList& list) {
  MetricList own = filtered(list, [](const AnyColumn& column) { return !is_attributed(column); });
  if (!own.metrics().empty()) return own;
  own = list;
  for (AnyColumn& each : own.columns)
    if (is_attributed(each)) std::get<MetricColumn>(each).flavour = Flavour::inclusive;
  return own;
}

MetricList exclusive_only(const MetricList& list) {
  MetricList own;
  for (const AnyColumn& each : list.columns) {
    const auto* column = std::get_if<MetricColumn>(&each);
    if (!column) continue;
    const AnyColumn exclusive =
        MetricColumn{Flavour::exclusive, column->metric, column->is_percent};
    if (std::find(own.columns.begin(), own.columns.end(), exclusive) == own.columns.end())
      own.columns.push_back(exclusive);
  }
  return own.columns.empty() ? exclusive_only(default_metrics()) : own;
}

MetricList metrics_only(const MetricList& list) {
  MetricList own = filtered(of_items(list), [](const AnyColumn& column) {
    return std::holds_alternative<MetricColumn>(column);
  });
  return own.columns.empty() ? metrics_only(default_metrics()) : own;
}

MetricList attributed_only(const MetricList& list) {
  MetricList own = filtered(list, is_attributed);
  if (!own.columns.empty()) return own;
  for (const MetricId metric : list.metrics())
    for (const bool is_percent : {false, true})
      if (std::any_of(list.columns.begin(), list.columns.end(), [&](const AnyColumn& each) {
            const auto* column = std::get_if<MetricColumn>(&each);
            return column && column->metric == metric && column->is_percent == is_percent;
          }))
        own.columns.push_back(MetricColumn{Flavour::attributed, metric, is_percent});
  return own;
}

MetricList around_function(const MetricList& list) {
  MetricList around = attributed_only(list);
  const MetricList others = filtered(list, [&](const AnyColumn& column) {
    return !is_attributed(column) && !is_share_of_listed(list, column);
  });
  around.columns.insert(around.columns.end(), others.columns.begin(), others.columns.end());
  return around;
}

std::vector<Column> columns_of(const MetricList& list) {
  std::vector<Column> columns;
  const AnyColumn* before = nullptr;
  for (const AnyColumn& each : list.columns) {
    if (const auto* column = std::get_if<MetricColumn>(&each))
      columns.push_back(column_of(*column, before));
    else if (std::get<Static>(each) != Static::name)
      columns.push_back(column_of(std::get<Static>(each)));
    before = &each;
  }
  columns.push_back(column_of(Static::name));
  return columns;
}

Cell value_cell(MetricId metric, std::uint64_t value) {
  if (row(metric).quantity == Quantity::time) return Nanoseconds{value};
  return value;
}

Cell share_cell(std::uint64_t part, std::uint64_t whole) {
  return Percent{whole == 0 ? 0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole)};
}

}  // namespace gnomon::reader
