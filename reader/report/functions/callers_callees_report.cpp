// What a function's callers and callees contribute to it: of each function, or of one. Any thread.
#include <algorithm>
#include <map>

#include "reader/metrics/attributed.h"
#include "reader/report/asked/asked.h"
#include "reader/report/asked/chosen_function.h"
#include "reader/report/asked/report.h"
#include "reader/report/base/items.h"
#include "reader/report/notes/losses.h"

namespace gnomon::reader {
namespace {

// A caller or callee, and what it contributes: by place in the listed metrics.
struct CallEdge {
  FunctionId function;
  Values values;
};

class Panels {
 public:
  Panels(const Profile& profile, const Shown& shown)
      : profile_(profile), list_(around_function(shown.metrics)), sort_(shown.sort) {
    // Callers and callees of a function have no order of size or address.
    if (sort_.by != std::variant<MetricColumn, Static>(Static::name) &&
        std::holds_alternative<Static>(sort_.by))
      sort_ = first_sort(list_);
    if (auto* by = std::get_if<MetricColumn>(&sort_.by)) by->flavour = Flavour::attributed;
    metrics_ = shown.metrics.metrics();
    if (const auto* by = std::get_if<MetricColumn>(&sort_.by)) place(by->metric);
    table.columns = {{"function", {}, false}, {"role", {}, false}};
    for (Column& column : columns_of(list_)) table.columns.push_back(std::move(column));
  }

  std::string order() const { return sort_.title(); }

  void add(FunctionId centre) {
    if (!table.rows.empty()) table.groups.push_back(table.rows.size());
    for (const CallEdge& caller : edges(centre, &Neighbours::callers))
      add(centre, "caller", " ", caller);
    CallEdge own{centre, {}};
    for (const MetricId metric : metrics_)
      own.values.push_back(profile_.values(metric).functions.exclusive[index(centre)]);
    add(centre, "function", "*", own);
    for (const CallEdge& callee : edges(centre, &Neighbours::callees))
      add(centre, "callee", " ", callee);
  }

  Table table;

 private:
  std::size_t place(MetricId metric) {
    const auto at = std::find(metrics_.begin(), metrics_.end(), metric);
    if (at == metrics_.end()) metrics_.push_back(metric);
    return static_cast<std::size_t>(std::find(metrics_.begin(), metrics_.end(), metric) -
                                    metrics_.begin());
  }

  std::vector<CallEdge> edges(FunctionId centre, std::vector<Attributed> Neighbours::*side) {
    std::map<std::uint32_t, Values> by_function;
    for (std::size_t m = 0; m < metrics_.size(); ++m)
      for (const Attributed& edge : profile_.neighbours_by(metrics_[m])[index(centre)].*side) {
        Values& values = by_function[index(edge.function)];
        values.resize(metrics_.size());
        values[m] = edge.value;
      }
    std::vector<CallEdge> edges;
    for (auto& [function, values] : by_function)
      if (std::any_of(values.begin(), values.end(), [](std::uint64_t value) { return value != 0; }))
        edges.push_back({FunctionId{function}, std::move(values)});
    const auto* by = std::get_if<MetricColumn>(&sort_.by);
    const std::size_t weight = by ? place(by->metric) : 0;
    std::sort(edges.begin(), edges.end(), [&](const CallEdge& a, const CallEdge& b) {
      if (by && a.values[weight] != b.values[weight]) return a.values[weight] > b.values[weight];
      return profile_.name(a.function) < profile_.name(b.function);
    });
    if (sort_.is_reversed) std::reverse(edges.begin(), edges.end());
    return edges;
  }

  void add(FunctionId centre, std::string role, const char* mark, const CallEdge& edge) {
    Row row{profile_.name(centre), std::move(role)};
    add_attributed_cells(
        row, list_, [&](MetricId metric) { return edge.values[place(metric)]; },
        [&](MetricId metric) { return profile_.value(Flavour::inclusive, metric, centre); });
    add_item_cells(row, list_, FunctionItems(profile_), index(edge.function));
    row.push_back(Label{mark, profile_.name(edge.function), *mark == '*'});
    table.rows.push_back(std::move(row));
  }

  const Profile& profile_;
  MetricList list_;
  Sort sort_;
  std::vector<MetricId> metrics_;
};

}  // namespace

Result<Table> callers_callees_report(Analysis& analysis, const View& view) {
  const auto asked = ask(analysis, view);
  if (!asked) return tl::unexpected(asked.error());
  const Profile& profile = *asked->profile;
  Panels panels(profile, asked->shown);
  panels.table.title = "Callers and callees sorted by metric: " + panels.order();
  panels.table.notes = all_notes(analysis, profile, asked->shown);
  panels.add(profile.total());
  const std::vector<std::uint32_t> functions = in_order(asked->shown, FunctionItems(profile));
  std::size_t added = 1;
  for (const std::uint32_t function : functions) {
    if (view.limit != 0 && added == view.limit) break;
    if (view.interrupt.asked(added)) return interrupted();
    panels.add(FunctionId{function});
    ++added;
  }
  panels.table.left_out = {functions.size() + 1 - added, "functions"};
  return std::move(panels.table);
}

Result<Table> csingle_report(Analysis& analysis, const View& view, const FunctionChoice& choice) {
  const auto asked = ask(analysis, view);
  if (!asked) return tl::unexpected(asked.error());
  const auto function = chosen(choice, *asked);
  if (!function) return tl::unexpected(function.error());
  Panels panels(*asked->profile, asked->shown);
  panels.table.title = "Callers and callees of one function sorted by metric: " + panels.order();
  panels.table.notes = all_notes(analysis, *asked->profile, asked->shown);
  panels.add(*function);
  return std::move(panels.table);
}

}  // namespace gnomon::reader
