// The hottest functions, and what has changed since the last stop. Any thread.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "reader/report/asked/asked.h"
#include "reader/report/asked/item_list.h"
#include "reader/report/notes/losses.h"
#include "reader/report/stop/stop_reports.h"

namespace gnomon::reader {
namespace {

constexpr double kBar = 20;  // characters of the longest

std::string bar_of(std::uint64_t value, std::uint64_t largest) {
  if (largest == 0 || value == 0) return "";
  const auto length = std::lround(static_cast<double>(value) / static_cast<double>(largest) * kBar);
  return std::string(static_cast<std::size_t>(std::max(length, 1L)), '#');
}

// By the time since the last stop, or by that of the whole recording.
enum class Order { whole, recent };

class HotTable {
 public:
  HotTable(MetricId metric, std::uint64_t total, const Recent* recent)
      : metric_(metric), total_(total), recent_(recent) {
    const MetricList list{{MetricColumn{Flavour::exclusive, metric, false},
                           MetricColumn{Flavour::exclusive, metric, true}, Static::name}};
    table.columns = columns_of(list);
    Column since = table.columns.front();
    since.id = fmt::format("since_stop_{}", row(metric).key);
    since.title.front() = "Since stop";
    const Column bar{"bar", {}, true, Type::text};
    if (recent) table.columns.insert(table.columns.end() - 1, since);
    table.columns.insert(table.columns.end() - 1, bar);
  }

  void add(const std::string& name, std::uint64_t value, std::uint64_t recent,
           const std::string& bar) {
    Row cells;
    cells.push_back(value_cell(metric_, value));
    cells.push_back(share_cell(value, total_));
    if (recent_) cells.push_back(change(recent));
    cells.emplace_back(bar);
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
  const Recent* recent_;
};

// The same of one function in all analyses of an experiment.
std::string key_of(const Profile& profile, FunctionId id) {
  const Function& function = profile.function(id);
  return fmt::format("{}+{}:{}", function.object, function.address, profile.name(id));
}

std::uint64_t recent_of(const Recent* recent, const std::string& key) {
  if (!recent) return 0;
  const auto at = recent->by_function.find(key);
  return at == recent->by_function.end() ? 0 : at->second;
}

struct Hot {
  FunctionId function;
  std::uint64_t value, recent;
};

// Returns the functions that have used something, in the order asked for.
std::vector<Hot> hottest_of(const Profile& profile, const Shown& shown, MetricId metric,
                            const Recent* recent, Order order) {
  std::vector<Hot> hottest;
  for (const std::uint32_t f : in_order(shown, FunctionItems(profile))) {
    const FunctionId id{f};
    const std::uint64_t value = profile.value(Flavour::exclusive, metric, id);
    if (id != profile.total() && value != 0)
      hottest.push_back({id, value, recent_of(recent, key_of(profile, id))});
  }
  if (order == Order::recent)
    std::stable_sort(hottest.begin(), hottest.end(),
                     [](const Hot& a, const Hot& b) { return a.recent > b.recent; });
  return hottest;
}

std::string nothing_recent_note(const Analysis& analysis, MetricId metric) {
  const std::uint64_t interval = analysis.experiment().header.interval.value;
  const bool is_sampled = row(metric).quantity == Quantity::time && interval != 0;
  return fmt::format(
      "nothing was recorded since the last stop{}: the order is that of the whole "
      "recording.",
      is_sampled ? fmt::format(", and a thread is sampled every {:.3f} ms of its "
                               "CPU time",
                               1e3 * seconds(Nanoseconds{interval}))
                 : "");
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
  const Recent* const since = recent ? &*recent : nullptr;
  const Order order = since && since->total != 0 ? Order::recent : Order::whole;
  const auto hottest = hottest_of(profile, shown, metric, since, order);
  const auto ranked = [order](const Hot& hot) {
    return order == Order::recent ? hot.recent : hot.value;
  };
  const std::uint64_t total = profile.values(metric).total;
  HotTable hot(metric, total, since);
  hot.table.title =
      fmt::format("The hottest functions{} by exclusive {}",
                  order == Order::recent ? " since the last stop," : "", row(metric).title);
  hot.table.notes = all_notes(analysis, profile, asked->shown);
  if (since && order == Order::whole)
    hot.table.notes.push_back(nothing_recent_note(analysis, metric));
  hot.add(kTotal, total, since ? since->total : 0, "");
  for (const Hot& each : hottest) {
    if (view.limit != 0 && hot.table.rows.size() > view.limit) break;
    hot.add(profile.name(each.function), each.value, each.recent,
            bar_of(ranked(each), ranked(hottest.front())));
  }
  hot.table.left_out = {hottest.size() + 1 - hot.table.rows.size(), "functions"};
  return std::move(hot.table);
}

}  // namespace gnomon::reader
