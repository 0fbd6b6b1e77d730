// Who calls whom, from <Total> down. Any thread.
#include <algorithm>
#include <vector>

#include "reader/report/asked/asked.h"
#include "reader/report/asked/report.h"
#include "reader/report/notes/losses.h"

namespace gnomon::reader {
namespace {

class Drawing {
 public:
  // by: heavy branches have much of it.
  Drawing(const Profile& profile, const MetricList& list, MetricId by, Table& table)
      : profile_(profile), list_(list), weight_(profile.values(by).inclusive), table_(table) {}

  // Returns false if the user interrupted.
  bool draw(std::size_t limit, const Interrupt& interrupt) {
    called_.resize(profile_.tree().size());
    for (const std::uint32_t n : heaviest(limit))
      if (n != 0) called_[index(profile_.tree().node(CallId{n}).parent)].push_back(n);
    add(0, 0, "+-");
    std::vector<Step> path{{0, 0, "  "}};
    while (!path.empty()) {
      Step& top = path.back();
      if (top.next == called_[top.node].size()) {
        path.pop_back();
        continue;
      }
      if (interrupt.asked(table_.rows.size())) return false;
      const std::uint32_t node = called_[top.node][top.next++];
      const bool last = top.next == called_[top.node].size();
      add(node, path.size(), top.indent + "+-");
      path.push_back({node, 0, top.indent + (last ? "  " : "|  ")});
    }
    return true;
  }

 private:
  struct Step {
    std::uint32_t node;
    std::size_t next;
    std::string indent;  // of what it calls
  };

  bool has_value(std::uint32_t node) const {
    if (weight_[node] != 0) return true;
    const std::vector<MetricId> metrics = list_.metrics();
    return std::any_of(metrics.begin(), metrics.end(), [&](MetricId metric) {
      return profile_.values(metric).inclusive[node] != 0;
    });
  }

  // In the order of their inclusive values: a node never stands before its caller.
  std::vector<std::uint32_t> heaviest(std::size_t limit) {
    std::vector<std::uint32_t> nodes;
    for (std::uint32_t n = 0; n < profile_.tree().size(); ++n)
      if (n == 0 || has_value(n)) nodes.push_back(n);
    std::sort(nodes.begin(), nodes.end(), [&](std::uint32_t a, std::uint32_t b) {
      return weight_[a] != weight_[b] ? weight_[a] > weight_[b] : a < b;
    });
    const std::size_t kept = limit == 0 ? nodes.size() : std::min(limit, nodes.size());
    table_.left_out = {nodes.size() - kept, "calls"};
    nodes.resize(kept);
    return nodes;
  }

  void add(std::uint32_t node, std::size_t depth, std::string mark) {
    Row row{depth};
    add_attributed_cells(
        row, list_, [&](MetricId metric) { return profile_.values(metric).inclusive[node]; },
        [&](MetricId metric) { return profile_.values(metric).total; });
    const FunctionId function = profile_.tree().node(CallId{node}).function;
    row.push_back(Label{std::move(mark), profile_.name(function)});
    table_.rows.push_back(std::move(row));
  }

  const Profile& profile_;
  const MetricList& list_;
  const Values& weight_;
  Table& table_;
  std::vector<std::vector<std::uint32_t>> called_;
};

// The metric that the report is in order by, where it is sorted by one; else the first.
MetricId weight_of(const Shown& shown) {
  if (const auto* by = std::get_if<MetricColumn>(&shown.sort.by)) return by->metric;
  const std::vector<MetricId> metrics = shown.metrics.metrics();
  return metrics.empty() ? kTotalCpu : metrics.front();
}

}  // namespace

Result<Table> calltree_report(Analysis& analysis, const View& view) {
  const auto asked = ask(analysis, view);
  if (!asked) return tl::unexpected(asked.error());
  const Shown& shown = asked->shown;
  const Profile* const profile = asked->profile;
  const MetricList list = attributed_only(shown.metrics);
  const MetricId by = weight_of(shown);
  Table table;
  table.title =
      "Functions Call Tree. Metric: " + Sort{MetricColumn{Flavour::attributed, by, false}}.title();
  table.notes = all_notes(analysis, *profile, shown);
  table.columns = {{"depth", {}, false, Type::count}};
  for (Column& column : columns_of(list)) table.columns.push_back(std::move(column));
  if (!Drawing(*profile, list, by, table).draw(view.limit, view.interrupt)) return interrupted();
  return table;
}

}  // namespace gnomon::reader
