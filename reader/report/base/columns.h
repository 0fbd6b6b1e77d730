// The columns of reports on functions, made from a metric list. Any thread.
#pragma once
#include <string>
#include <vector>

#include "reader/analysis/all_sums.h"
#include "reader/analysis/view.h"
#include "reader/metrics/metric_list.h"
#include "reader/table/table.h"

namespace gnomon::reader {

// What of a view the experiment has data for.
struct Shown {
  MetricList metrics;
  Sort sort;
  std::vector<std::string> notes;  // what was left out, sentences
};

// Returns true if the experiment may have that data: an event of the kind, or the clock, whose
// samples may be still to come.
bool is_available(MetricId metric, const AllSums& sums);

// The metrics of counters that there are events of.
std::vector<MetricId> counters_in(const AllSums& sums);
// Returns the columns that a report shows: to the default list the counters of the experiment are
// added, a list that the user has chosen is returned as it is.
MetricList with_counters(const MetricList& list, const AllSums& sums);

// The metric of the first column that shows one; without any, CPU time.
MetricId leading_metric(const Shown& shown);

// Fault: no column is left.
Result<Shown> shown(const View& view, const AllSums& sums);

// The columns of a list that are values of items: attributed ones are left out, or shown as the
// inclusive ones that they add up to if there are no others.
MetricList of_items(const MetricList& list);
// The metrics of a list as exclusive values and shares, each once, without what has an address.
MetricList exclusive_only(const MetricList& list);
// Those that are values or shares, in that way; of an empty list the default one's.
MetricList metrics_only(const MetricList& list);
// Attributed columns: those that the list names, else one for each metric of the others. Then those
// of exclusive and inclusive values, without their shares.
MetricList around_function(const MetricList& list);
// Attributed columns alone.
MetricList attributed_only(const MetricList& list);

// The id of a column: "exclusive_totalcpu".
std::string column_id(const MetricColumn& column);
// A name's column is always the last.
std::vector<Column> columns_of(const MetricList& list);

// A value in the metric's unit, and its share of another.
Cell value_cell(MetricId metric, std::uint64_t value);
Cell share_cell(std::uint64_t part, std::uint64_t whole);

// Appends the cells of a list's attributed columns. value(metric): the attributed value;
// whole(metric): what it is a share of.
template <typename ValueOf, typename WholeOf>
void add_attributed_cells(Row& row, const MetricList& list, ValueOf value, WholeOf whole) {
  for (const auto& each : list.columns)
    if (const auto* column = std::get_if<MetricColumn>(&each);
        column && column->flavour == Flavour::attributed)
      row.push_back(column->is_percent ? share_cell(value(column->metric), whole(column->metric))
                                       : value_cell(column->metric, value(column->metric)));
}

}  // namespace gnomon::reader
