// What a function's callers and callees contribute to it: of each function, or of one. Any thread.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>

#include "reader/metrics/attributed.h"
#include "reader/report/columns.h"
#include "reader/report/losses.h"
#include "reader/report/report.h"
#include "reader/symbols/name_match.h"
#include "reader/table/shorten.h"

namespace gnomon::reader {
namespace {

// A caller or callee, and what it contributes: by place in the listed metrics.
struct Edge {
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
    for (const Edge& caller : edges(centre, &Neighbours::callers))
      add(centre, "caller", " ", caller);
    Edge own{centre, {}};
    for (const MetricId metric : metrics_)
      own.values.push_back(profile_.values(metric).functions.exclusive[index(centre)]);
    add(centre, "function", "*", own);
    for (const Edge& callee : edges(centre, &Neighbours::callees))
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

  std::vector<Edge> edges(FunctionId centre, std::vector<Attributed> Neighbours::*side) {
    std::map<std::uint32_t, Values> by_function;
    for (std::size_t m = 0; m < metrics_.size(); ++m)
      for (const Attributed& edge : profile_.neighbours_by(metrics_[m])[index(centre)].*side) {
        Values& values = by_function[index(edge.function)];
        values.resize(metrics_.size());
        values[m] = edge.value;
      }
    std::vector<Edge> edges;
    for (auto& [function, values] : by_function)
      if (std::any_of(values.begin(), values.end(), [](std::uint64_t value) { return value != 0; }))
        edges.push_back({FunctionId{function}, std::move(values)});
    const auto* by = std::get_if<MetricColumn>(&sort_.by);
    const std::size_t weight = by ? place(by->metric) : 0;
    std::sort(edges.begin(), edges.end(), [&](const Edge& a, const Edge& b) {
      if (by && a.values[weight] != b.values[weight]) return a.values[weight] > b.values[weight];
      return profile_.name(a.function) < profile_.name(b.function);
    });
    if (sort_.is_reversed) std::reverse(edges.begin(), edges.end());
    return edges;
  }

  void add(FunctionId centre, std::string role, const char* mark, const Edge& edge) {
    Row row{profile_.name(centre), std::move(role)};
    add_attributed_cells(
        row, list_, [&](MetricId metric) { return edge.values[place(metric)]; },
        [&](MetricId metric) { return profile_.value(Flavour::inclusive, metric, centre); });
    add_function_cells(row, list_, profile_, edge.function);
    row.push_back(Label{mark, profile_.name(edge.function), *mark == '*'});
    table.rows.push_back(std::move(row));
  }

  const Profile& profile_;
  MetricList list_;
  Sort sort_;
  std::vector<MetricId> metrics_;
};

// The functions that `name` means: those it names fully, else those it names in part.
std::vector<FunctionId> meant(const Profile& profile, const std::vector<FunctionId>& functions,
                              const std::string& name) {
  std::vector<FunctionId> fully, partly;
  const auto look = [&](FunctionId id) {
    const std::string& known = profile.name(id);
    const auto& aliases = profile.function(id).aliases;
    const auto is_meant = [&](const std::string& alias) { return names_function(name, alias); };
    if (known == name) fully.push_back(id);
    if (is_meant(known) || std::any_of(aliases.begin(), aliases.end(), is_meant))
      partly.push_back(id);
  };
  look(profile.total());
  for (const FunctionId id : functions) look(id);
  return fully.empty() ? partly : fully;
}

tl::unexpected<Fault> several(const Profile& profile, const std::vector<FunctionId>& functions,
                              const std::string& name) {
  constexpr std::size_t kShown = 9;
  std::string list;
  for (std::size_t i = 0; i < std::min(functions.size(), kShown); ++i)
    list += fmt::format("{}{} {}", i == 0 ? "" : ", ", i + 1, profile.name(functions[i]));
  if (functions.size() > kShown) list += fmt::format(" and {} more", functions.size() - kShown);
  return fault(fmt::format("{} functions are meant by {}: {}", functions.size(), name, list),
               "append the number of one");
}

// The first of the functions whose names contain the word, in any case, as a question.
std::string similar(const Profile& profile, const std::vector<FunctionId>& functions,
                    const std::string& word) {
  constexpr std::size_t kShown = 3;
  const auto is_same = [](char a, char b) {
    return std::tolower(static_cast<unsigned char>(a)) ==
           std::tolower(static_cast<unsigned char>(b));
  };
  std::string names;
  std::size_t count = 0;
  for (const FunctionId id : functions) {
    const std::string& name = profile.name(id);
    if (std::search(name.begin(), name.end(), word.begin(), word.end(), is_same) == name.end())
      continue;
    if (count++ == kShown) break;
    names += (names.empty() ? "" : " or ") + shortened(name, 60);
  }
  return names.empty() ? "`functions` lists those that were sampled"
                       : fmt::format("did you mean {}?", names);
}

}  // namespace

Result<Table> callers_callees_report(Analysis& analysis, const View& view) {
  const auto shown = reader::shown(view, analysis.sums());
  if (!shown) return tl::unexpected(shown.error());
  const auto profile = analysis.profile(view.interrupt);
  if (!profile) return tl::unexpected(profile.error());
  Panels panels(**profile, *shown);
  panels.table.title = "Callers and callees sorted by metric: " + panels.order();
  panels.table.notes = all_notes(analysis, **profile, *shown);
  panels.add((*profile)->total());
  const std::vector<FunctionId> functions = functions_in_order(*shown, **profile);
  std::size_t added = 1;
  for (const FunctionId id : functions) {
    if (view.limit != 0 && added == view.limit) break;
    if (view.interrupt.asked(added)) return interrupted();
    panels.add(id);
    ++added;
  }
  panels.table.left_out = {functions.size() + 1 - added, "functions"};
  return std::move(panels.table);
}

Result<Table> csingle_report(Analysis& analysis, const View& view, const std::string& name,
                             std::size_t number) {
  const auto shown = reader::shown(view, analysis.sums());
  if (!shown) return tl::unexpected(shown.error());
  const auto profile = analysis.profile(view.interrupt);
  if (!profile) return tl::unexpected(profile.error());
  const std::vector<FunctionId> sampled = functions_in_order(*shown, **profile);
  const std::vector<FunctionId> functions = meant(**profile, sampled, name);
  if (functions.empty())
    return fault("no sample has a function " + name + " on its call stack",
                 similar(**profile, sampled, name));
  if (number == 0 && functions.size() > 1) return several(**profile, functions, name);
  if (number > functions.size())
    return fault(fmt::format("{} means {} function{}, not {}", name, functions.size(),
                             functions.size() == 1 ? "" : "s", number),
                 "omit the number, or give a smaller one");
  Panels panels(**profile, *shown);
  panels.table.title = "Callers and callees of one function sorted by metric: " + panels.order();
  panels.table.notes = all_notes(analysis, **profile, *shown);
  panels.add(functions[number == 0 ? 0 : number - 1]);
  return std::move(panels.table);
}

}  // namespace gnomon::reader
