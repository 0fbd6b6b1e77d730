// Allocations and leaks by call stack. Any thread, one at a time.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "reader/report/traced/heap_reports.h"
#include "reader/report/traced/stack_list.h"

namespace gnomon::reader {
namespace {

enum HeapValue : std::size_t { allocations, bytes_allocated, leaks, bytes_leaked, kValues };
constexpr std::array<MetricId, kValues> kHeapMetrics{kAllocations, kBytesAllocated, kLeaks,
                                                     kBytesLeaked};

using HeapValues = std::array<std::uint64_t, kValues>;
using HeapStack = std::pair<std::vector<PlaceId>, HeapValues>;

// Stacks that pass the same lines are one.
std::vector<HeapStack> stacks_of(const Analysis& analysis, const StackList& stacks) {
  std::map<std::vector<PlaceId>, HeapValues> by_path;
  for (std::size_t part = 0; part < analysis.parts().size(); ++part)
    for (std::size_t value = 0; value < kValues; ++value)
      analysis.parts()[part]->sums().each(kHeapMetrics[value],
                                          [&](std::uint32_t stack, std::uint64_t sum) {
                                            by_path[stacks.path_of(part, stack)][value] += sum;
                                          });
  return {by_path.begin(), by_path.end()};
}

// Which values a list shows; it is in order of the last, then of the one before.
std::vector<HeapValue> values_of(HeapList list) {
  if (list == HeapList::allocations) return {allocations, bytes_allocated};
  if (list == HeapList::leaks) return {leaks, bytes_leaked};
  return {allocations, bytes_allocated, leaks, bytes_leaked};
}

MetricList columns_of(HeapList list) {
  MetricList columns;
  for (const HeapValue value : values_of(list))
    columns.columns.emplace_back(MetricColumn{Flavour::exclusive, kHeapMetrics[value], false});
  columns.columns.emplace_back(Static::name);
  return columns;
}

std::string title_of(HeapList list, const std::vector<HeapStack>& stacks,
                     const std::vector<HeapValue>& values) {
  HeapValues sums{};
  for (const auto& [path, own] : stacks)
    for (std::size_t value = 0; value < kValues; ++value) sums[value] += own[value];
  std::string text = list == HeapList::leaks         ? "Leaks"
                     : list == HeapList::allocations ? "Allocations"
                                                     : "Allocations and leaks";
  text += " by call stack: " + counted(stacks.size(), "call stack");
  for (const HeapValue value : values) {
    const bool is_count = value == allocations || value == leaks;
    const char* what = value == allocations ? "allocation" : value == leaks ? "leak" : "byte";
    text += ", " + counted(sums[value], what);
    if (!is_count && values.size() > 2) text += value == bytes_leaked ? " leaked" : " allocated";
  }
  return text;
}

Result<Table> table_of(HeapList list, std::vector<HeapStack> stacks, const StackList& names,
                       const View& view) {
  const std::vector<HeapValue> values = values_of(list);
  std::erase_if(stacks, [&](const HeapStack& each) {
    return std::all_of(values.begin(), values.end(),
                       [&](HeapValue value) { return each.second[value] == 0; });
  });
  const auto weight = [&](const HeapStack& each) {
    return std::tuple(each.second[values.back()], each.second[values[values.size() - 2]],
                      each.second[values.front()]);
  };
  std::stable_sort(stacks.begin(), stacks.end(),
                   [&](const HeapStack& a, const HeapStack& b) { return weight(a) > weight(b); });
  std::vector<ListedStack> listed;
  for (const HeapStack& each : stacks) {
    listed.push_back({{}, each.first});
    for (const HeapValue value : values)
      listed.back().values.push_back(value_cell(kHeapMetrics[value], each.second[value]));
  }
  std::vector<Column> columns = columns_of(columns_of(list));
  columns.pop_back();  // the name
  Table table;
  table.title = title_of(list, stacks, values);
  const auto done = names.list(table, std::move(columns), listed, view);
  return done ? Result<Table>(std::move(table)) : tl::unexpected(done.error());
}

}  // namespace

Result<Table> heap_report(Analysis& analysis, const View& view, HeapList list) {
  if (auto has = has_heap(analysis); !has) return tl::unexpected(has.error());
  const auto stacks = StackList::of(analysis, view, columns_of(list));
  if (!stacks) return tl::unexpected(stacks.error());
  auto table = table_of(list, stacks_of(analysis, *stacks), *stacks, view);
  return table ? stacks->with_losses(std::move(*table), analysis) : table;
}

}  // namespace gnomon::reader
