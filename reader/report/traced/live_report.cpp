// What is allocated, with its age. Any thread, one at a time.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "reader/base/clock.h"
#include "reader/report/traced/heap_reports.h"
#include "reader/report/traced/stack_list.h"

namespace gnomon::reader {
namespace {

struct LiveBlocks {
  HeapAmount amount;
  std::uint64_t oldest = 0, newest = ~std::uint64_t{0};  // ages, ns
};

// Of a program that runs, the present; else when its recording ended.
std::uint64_t end_of(const Part& part) {
  const Experiment& experiment = part.experiment();
  if (experiment.control.end_time != 0) return experiment.control.end_time;
  return life_of(experiment.header) == Life::running ? monotonic_now() : part.last_event();
}

MetricList leak_metrics() {
  MetricList metrics;
  metrics.columns.emplace_back(MetricColumn{Flavour::exclusive, kLeaks, false});
  metrics.columns.emplace_back(MetricColumn{Flavour::exclusive, kBytesLeaked, false});
  metrics.columns.emplace_back(Static::name);
  return metrics;
}

}  // namespace

Result<Table> live_report(Analysis& analysis, const View& view, std::uint64_t older_than) {
  if (auto has = has_heap(analysis); !has) return tl::unexpected(has.error());
  const auto stacks = StackList::of(analysis, view, leak_metrics());
  if (!stacks) return tl::unexpected(stacks.error());
  std::map<std::vector<PlaceId>, LiveBlocks> by_path;
  HeapAmount all;
  for (std::size_t part = 0; part < analysis.parts().size(); ++part) {
    const std::uint64_t end = end_of(*analysis.parts()[part]);
    analysis.parts()[part]->heap().each([&](std::uint64_t, const HeapBlock& block) {
      const std::uint64_t age = end - std::min(end, block.time);
      if (!block.is_chosen || age < older_than) return;
      LiveBlocks& own = by_path[stacks->path_of(part, block.stack)];
      for (HeapAmount* sum : {&own.amount, &all}) {
        sum->blocks += block.amount.blocks;
        sum->bytes += block.amount.bytes;
      }
      own.oldest = std::max(own.oldest, age);
      own.newest = std::min(own.newest, age);
    });
  }
  std::vector<std::pair<std::vector<PlaceId>, LiveBlocks>> sorted(by_path.begin(), by_path.end());
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) {
    return a.second.amount.bytes > b.second.amount.bytes;
  });
  std::vector<ListedStack> listed;
  for (const auto& [path, own] : sorted) {
    listed.push_back({{}, path});
    Row& row = listed.back().values;
    row.emplace_back(own.amount.blocks);
    row.emplace_back(own.amount.bytes);
    row.emplace_back(Nanoseconds{own.oldest});
    row.emplace_back(Nanoseconds{own.newest});
  }
  Table table;
  table.title =
      fmt::format("Allocated{}, by call stack: {}, {}, {}",
                  older_than == 0 ? "" : fmt::format(" for {} s", seconds(Nanoseconds{older_than})),
                  counted(listed.size(), "call stack"), counted(all.blocks, "block"),
                  counted(all.bytes, "byte"));
  const auto done = stacks->list(table,
                                 {{"blocks", {"Blocks"}, true, Type::count},
                                  {"bytes", {"Bytes"}, true, Type::bytes},
                                  {"oldest_age", {"Oldest", "sec."}, true, Type::time},
                                  {"newest_age", {"Newest", "sec."}, true, Type::time}},
                                 listed, view);
  if (!done) return tl::unexpected(done.error());
  return stacks->with_losses(std::move(table), analysis);
}

}  // namespace gnomon::reader
