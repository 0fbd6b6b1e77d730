// Allocations and leaks by call stack. Any thread, one at a time.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "reader/report/asked.h"
#include "reader/report/heap/heap_reports.h"
#include "reader/symbols/name_match.h"

namespace gnomon::reader {
namespace {

enum HeapValue : std::size_t { allocations, bytes_allocated, leaks, bytes_leaked, kValues };
constexpr std::array<MetricId, kValues> kHeapMetrics{kAllocations, kBytesAllocated, kLeaks,
                                                     kBytesLeaked};

struct HeapStack {
  std::vector<PlaceId> path;  // the caller of the allocator first
  std::array<std::uint64_t, kValues> values{};
};

// Stacks that pass the same lines are one.
std::vector<HeapStack> stacks_of(const Analysis& analysis, const PlaceProfile& places) {
  std::map<std::vector<PlaceId>, std::array<std::uint64_t, kValues>> by_path;
  for (std::size_t part = 0; part < analysis.parts().size(); ++part)
    for (std::size_t value = 0; value < kValues; ++value)
      analysis.parts()[part]->sums().each(kHeapMetrics[value],
                                          [&](std::uint32_t stack, std::uint64_t sum) {
                                            by_path[places.path_of(part, stack)][value] += sum;
                                          });
  std::vector<HeapStack> stacks;
  for (auto& [path, values] : by_path) stacks.push_back({path, values});
  return stacks;
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
  std::array<std::uint64_t, kValues> sums{};
  for (const HeapStack& each : stacks)
    for (std::size_t value = 0; value < kValues; ++value) sums[value] += each.values[value];
  std::string text = list == HeapList::leaks         ? "Leaks"
                     : list == HeapList::allocations ? "Allocations"
                                                     : "Allocations and leaks";
  text +=
      fmt::format(" by call stack: {} call stack{}", stacks.size(), stacks.size() == 1 ? "" : "s");
  for (const HeapValue value : values) {
    const bool is_count = value == allocations || value == leaks;
    const char* what = value == allocations ? "allocation" : value == leaks ? "leak" : "byte";
    text += fmt::format(", {} {}{}", sums[value], what, sums[value] == 1 ? "" : "s");
    if (!is_count && values.size() > 2) text += value == bytes_leaked ? " leaked" : " allocated";
  }
  return text;
}

Phrase frame_name(const PlaceItems& items, std::uint32_t item) {
  if (items.place(item).source.is_known()) return items.name(item);
  return {"", std::string(without_clone(items.function_name(item))), ""};
}

void add_stack(Table& table, const HeapStack& stack, std::size_t number,
               const std::vector<HeapValue>& values, const PlaceItems& items) {
  for (std::size_t frame = 0; frame < std::max<std::size_t>(stack.path.size(), 1); ++frame) {
    Row row;
    for (const HeapValue value : values)
      row.push_back(frame == 0 ? value_cell(kHeapMetrics[value], stack.values[value])
                               : Cell(Empty{}));
    row.emplace_back(std::uint64_t{number});
    row.emplace_back(std::uint64_t{frame});
    std::string mark = frame == 0 ? fmt::format("{:>4}  ", number) : std::string(6, ' ');
    const Phrase name = stack.path.empty() ? Phrase{"", "<no call stack>", ""}
                                           : frame_name(items, index(stack.path[frame]));
    row.emplace_back(Label{std::move(mark), name.text()});
    table.rows.push_back(std::move(row));
  }
}

Result<Table> table_of(HeapList list, std::vector<HeapStack> stacks, const PlaceItems& items,
                       const View& view) {
  const std::vector<HeapValue> values = values_of(list);
  const auto is_shown = [&](const HeapStack& each) {
    return std::any_of(values.begin(), values.end(),
                       [&](HeapValue value) { return each.values[value] != 0; });
  };
  std::erase_if(stacks, [&](const HeapStack& each) { return !is_shown(each); });
  const auto weight = [&](const HeapStack& each) {
    return std::tuple(each.values[values.back()], each.values[values[values.size() - 2]],
                      each.values[values.front()]);
  };
  std::stable_sort(stacks.begin(), stacks.end(),
                   [&](const HeapStack& a, const HeapStack& b) { return weight(a) > weight(b); });
  Table table;
  table.title = title_of(list, stacks, values);
  table.columns = columns_of(columns_of(list));
  table.columns.insert(table.columns.end() - 1,
                       {{"stack", {}, false, Type::count}, {"frame", {}, false, Type::count}});
  for (std::size_t i = 0; i < stacks.size(); ++i) {
    if (view.interrupt.asked(static_cast<std::uint32_t>(i))) return interrupted();
    if (view.limit != 0 && i == view.limit) {
      table.left_out = {stacks.size() - i, "call stacks"};
      break;
    }
    add_stack(table, stacks[i], i + 1, values, items);
  }
  return table;
}

}  // namespace

Result<Table> heap_report(Analysis& analysis, const View& view, HeapList list) {
  if (std::all_of(analysis.parts().begin(), analysis.parts().end(),
                  [](const auto& part) { return part->heap().is_empty(); })) {
    const auto& settings = analysis.experiment().header.settings;
    return settings[format::Setting::heaptrace] != 0
               ? fault("the program has not allocated anything yet", "let it go on, and ask again")
               : fault("allocations were not recorded",
                       "`collector heaptrace on` before the run, or `gnomon collect -H on`, "
                       "records them");
  }
  View own = view;
  own.show(columns_of(list));
  const auto asked = ask_places(analysis, own, Grain::line);
  if (!asked) return tl::unexpected(asked.error());
  const auto places = analysis.places(Grain::line, view.interrupt);
  if (!places) return tl::unexpected(places.error());
  return with_losses(table_of(list, stacks_of(analysis, **places), asked->items, view), analysis,
                     asked->asked);
}

}  // namespace gnomon::reader
