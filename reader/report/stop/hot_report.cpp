// The hottest functions, and what has changed since the last stop. Any thread.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "reader/report/asked.h"
#include "reader/report/item_list.h"
#include "reader/report/losses.h"
#include "reader/report/stop/stop_reports.h"

namespace gnomon::reader {
namespace {

constexpr double kBar = 20;  // characters of the longest

std::string bar_of(std::uint64_t value, std::uint64_t largest) {
  if (largest == 0 || value == 0) return "";
  const auto length = std::lround(static_cast<double>(value) / static_cast<double>(largest) * kBar);
  return std::string(static_cast<std::size_t>(std::max(length, 1L)), '#');
}

class HotTable {
 public:
  HotTable(MetricId metric, std::uint64_t total, const std::optional<Recent>& recent)
      : metric_(metric), total_(total), recent_(recent) {
    const MetricList list{{MetricColumn{Flavour::exclusive, metric, false},
                           MetricColumn{Flavour::exclusive, metric, true}, Static::name}};
    table.columns = columns_of(list);
    Column since = table.columns.front();
    since.id = fmt::format("since_stop_{}", row(metric).key);
    since.title.front() = "Since stop";
    const Column bar{"bar", {}, true, Type::text};
    table.columns.insert(table.columns.begin() + 2, {since, bar});
  }

  // largest: of all functions; 0: the row has no bar.
  void add(const std::string& name, std::uint64_t value, std::uint64_t recent,
           std::uint64_t largest) {
    Row cells;
    cells.push_back(value_cell(metric_, value));
    cells.push_back(share_cell(value, total_));
    cells.push_back(recent_ ? change(recent) : Cell(Empty{}));
    cells.emplace_back(bar_of(value, largest));
    cells.emplace_back(Phrase{"", name, ""});
    table.rows.push_back(std::move(cells));
  }

  Table table;

 private:
  Cell change(std::uint64_t value) const {
    return Difference{static_cast<std::int64_t>(value), row(metric_).quantity == Quantity::time};
  }

  MetricId metric_;
  std::uint64_t total_;
  const std::optional<Recent>& recent_;
};

// The same of one function in all analyses of an experiment.
std::string key_of(const Profile& profile, FunctionId id) {
  const Function& function = profile.function(id);
  return fmt::format("{}+{}:{}", function.object, function.address, profile.name(id));
}

std::uint64_t recent_of(const std::optional<Recent>& recent, const std::string& key) {
  if (!recent) return 0;
  const auto at = recent->by_function.find(key);
  return at == recent->by_function.end() ? 0 : at->second;
}

}  // namespace

Result<Recent> recent_values(Analysis& analysis, const View& view) {
  const auto asked = ask(analysis, view);
  if (!asked) return tl::unexpected(asked.error());
  const Profile& profile = *asked->profile;
  Recent recent;
  const MetricId metric = leading_metric(asked->shown);
  recent.total = profile.values(metric).total;
  for (std::uint32_t f = 0; f < profile.functions(); ++f)
    if (const auto value = profile.value(Flavour::exclusive, metric, FunctionId{f}))
      recent.by_function[key_of(profile, FunctionId{f})] = value;
  return recent;
}

Result<Table> hot_report(Analysis& analysis, const View& view,
                         const std::optional<Recent>& recent) {
  const auto asked = ask(analysis, view);
  if (!asked) return tl::unexpected(asked.error());
  const Profile& profile = *asked->profile;
  const MetricId metric = leading_metric(asked->shown);
  Shown shown = asked->shown;
  shown.sort = Sort{MetricColumn{Flavour::exclusive, metric, false}};
  const auto value_of = [&](std::uint32_t f) {
    return profile.value(Flavour::exclusive, metric, FunctionId{f});
  };
  std::vector<std::uint32_t> hottest;
  for (const std::uint32_t f : in_order(shown, FunctionItems(profile)))
    if (FunctionId{f} != profile.total() && value_of(f) != 0) hottest.push_back(f);
  const std::uint64_t total = profile.values(metric).total;
  HotTable hot(metric, total, recent);
  hot.table.title = fmt::format("The hottest functions by exclusive {}", row(metric).title);
  hot.table.notes = all_notes(analysis, profile, asked->shown);
  hot.add(kTotal, total, recent ? recent->total : 0, 0);
  for (const std::uint32_t f : hottest) {
    if (view.limit != 0 && hot.table.rows.size() > view.limit) break;
    hot.add(profile.name(FunctionId{f}), value_of(f),
            recent_of(recent, key_of(profile, FunctionId{f})), value_of(hottest.front()));
  }
  hot.table.left_out = {hottest.size() + 1 - hot.table.rows.size(), "functions"};
  return std::move(hot.table);
}

}  // namespace gnomon::reader
