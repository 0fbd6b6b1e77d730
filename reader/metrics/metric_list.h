// Metric lists: the columns of a report and its order, as users write them (er_print's grammar).
// Any thread.
#pragma once
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "reader/base/result.h"
#include "reader/metrics/metric.h"

namespace gnomon::reader {

enum class Flavour : char { exclusive = 'e', inclusive = 'i', attributed = 'a' };
std::string_view word(Flavour flavour);  // "Exclusive"

// What a report can show that is not summed up from events.
enum class Static { name, size, address };

// A column of values.
struct MetricColumn {
  Flavour flavour;
  MetricId metric;
  bool is_percent;
  friend bool operator==(const MetricColumn&, const MetricColumn&) = default;
};

struct MetricList {
  std::vector<std::variant<MetricColumn, Static>> columns;  // none twice

  // Metrics with a column, in the order of their first.
  std::vector<MetricId> metrics() const;
  // As the user would write the list: "e.%totalcpu:i.%totalcpu:name".
  std::string text() const;
};

struct Sort {
  std::variant<MetricColumn, Static> by;  // is_percent: false
  bool is_reversed = false;
  std::string text() const;   // "e.totalcpu"
  std::string title() const;  // "Exclusive Total CPU Time"
};

MetricList default_metrics();
Sort default_sort();

// key[:key...]. A key is FLAVOURS VISIBILITIES NAME or [VISIBILITY] name|size|address. Flavours: e
// exclusive, i inclusive, a attributed, also several. Visibilities: . and + value, % share of the
// total, also both; ! hides, and goes with no other. NAME: a metric's key, or `any` for all of
// them. "default" alone: default_metrics(). Repetitions are left out. (spec: er_print(1), "Metric
// lists")
Result<MetricList> parse_metrics(std::string_view list);

// [-]key[:key...] of those above; the first key says what to sort by, and of several flavours or
// metrics in it the first. Visibilities are not looked at. `-` reverses the order.
Result<Sort> parse_sort(std::string_view word);

}  // namespace gnomon::reader
