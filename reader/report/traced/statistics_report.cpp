// Totals of allocations, the peak, sizes, and what did not last. Any thread, one at a time.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "libcollector/format/settings.h"
#include "reader/report/traced/heap_reports.h"
#include "reader/report/traced/stack_list.h"

namespace gnomon::reader {
namespace {

constexpr std::size_t kUsualStacks = 5;

std::string text_of(const HeapAmount& amount) {
  return counted(amount.blocks, "block") + ", " + counted(amount.bytes, "byte");
}

double share_of(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
}

class StatisticsTable {
 public:
  StatisticsTable(const StackList& stacks, const View& view) : stacks_(stacks), view_(view) {
    table.title = "Statistics of allocations";
    table.columns = {{"item", {}}, {"value", {}}};
  }

  // Of an experiment; `name` is empty if there is one only.
  void add(const Part& part, std::size_t number, const std::string& name) {
    const HeapStatistics& statistics = part.heap().statistics();
    if (!name.empty()) put("Experiment", name);
    const HeapAmount &all = statistics.allocated(), &freed = statistics.freed();
    put("Allocated", text_of(all));
    put("Freed", text_of(freed));
    put("Not freed", text_of({all.blocks - freed.blocks, all.bytes - freed.bytes}));
    // Between two sampled allocations there were others: which blocks did not last is not known.
    if (format::heap_mean(part.experiment().header.settings[format::Setting::heaptrace]) == 0)
      put("Temporary",
          fmt::format("{}: {:.1f} % of the blocks, freed before {} more were allocated",
                      text_of(statistics.temporary()),
                      share_of(statistics.temporary().blocks, all.blocks), HeapStatistics::kSoon));
    const std::uint64_t start = part.experiment().control.start_time;
    put("Peak", fmt::format("{}, at {:.6f} s", text_of(statistics.peak()),
                            seconds(Nanoseconds{statistics.peak_time() -
                                                std::min(start, statistics.peak_time())})));
    add_peak(statistics, number);
    add_sizes(statistics);
  }

  Table table;

 private:
  void put(const std::string& item, const std::string& value) {
    Row row;
    row.emplace_back(item);
    row.emplace_back(value);
    table.rows.push_back(std::move(row));
  }

  // The call stacks that had most of it.
  void add_peak(const HeapStatistics& statistics, std::size_t number) {
    std::map<std::vector<PlaceId>, HeapAmount> by_path;
    statistics.each_at_peak([&](std::uint32_t stack, const HeapAmount& amount) {
      HeapAmount& own = by_path[stacks_.path_of(number, stack)];
      own.blocks += amount.blocks;
      own.bytes += amount.bytes;
    });
    std::vector<std::pair<std::vector<PlaceId>, HeapAmount>> sorted(by_path.begin(), by_path.end());
    std::stable_sort(sorted.begin(), sorted.end(),
                     [](const auto& a, const auto& b) { return a.second.bytes > b.second.bytes; });
    const std::size_t limit = view_.limit == 0 ? kUsualStacks : view_.limit;
    for (std::size_t i = 0; i < std::min(limit, sorted.size()); ++i) {
      put(fmt::format("  {}", i + 1), text_of(sorted[i].second));
      for (const std::string& name : stacks_.names_of(sorted[i].first)) put("", "  " + name);
    }
    if (sorted.size() > limit)
      put("", fmt::format("{} at the peak; --limit N shows more",
                          counted(sorted.size() - limit, "more call stack")));
  }

  void add_sizes(const HeapStatistics& statistics) {
    std::size_t size = 0;
    for (const HeapAmount& each : statistics.by_size()) {
      const std::uint64_t first = size == 0 ? 0 : std::uint64_t{1} << (size - 1);
      if (each.blocks != 0)
        put(size < 2 ? fmt::format("Size {}", first)
                     : fmt::format("Sizes {} to {}", first, first + (first - 1)),
            fmt::format("{}: {:.1f} % of the blocks", text_of(each),
                        share_of(each.blocks, statistics.allocated().blocks)));
      ++size;
    }
  }

  const StackList& stacks_;
  const View& view_;
};

MetricList allocation_metrics() {
  MetricList metrics;
  metrics.columns.emplace_back(MetricColumn{Flavour::exclusive, kAllocations, false});
  metrics.columns.emplace_back(Static::name);
  return metrics;
}

}  // namespace

Result<Table> heap_statistics_report(Analysis& analysis, const View& view) {
  if (auto has = has_heap(analysis); !has) return tl::unexpected(has.error());
  const auto stacks = StackList::of(analysis, view, allocation_metrics());
  if (!stacks) return tl::unexpected(stacks.error());
  StatisticsTable statistics(*stacks, view);
  const auto& parts = analysis.parts();
  for (std::size_t i = 0; i < parts.size(); ++i)
    statistics.add(*parts[i], i, parts.size() == 1 ? "" : parts[i]->experiment().directory);
  return stacks->with_losses(std::move(statistics.table), analysis);
}

}  // namespace gnomon::reader
