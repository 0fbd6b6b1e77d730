// Which block of memory an address lay in, and what happened to that. Any thread, one at a time.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "reader/report/traced/heap_reports.h"
#include "reader/report/traced/stack_list.h"

namespace gnomon::reader {
namespace {

struct Happened {
  HeapEvent event;
  std::uint32_t thread = 0;
  std::size_t part = 0;
};

// What happened to the blocks that the address lies in, in order of time.
Result<std::vector<Happened>> find_blocks(Analysis& analysis, std::uint64_t address,
                                          const Interrupt& interrupt) {
  std::vector<Happened> found;
  for (std::size_t number = 0; number < analysis.parts().size(); ++number) {
    Part& part = *analysis.parts()[number];
    std::set<std::uint64_t> blocks;
    const auto take = [&](const HeapEvent& event, const Event& of) {
      found.push_back({event, Part::thread_of(of), number});
    };
    // A block's free may stand before its allocation, which another thread has made.
    for (const bool is_allocation : {true, false}) {
      const auto read = part.each_event(interrupt, [&](const Event& event) -> Result<void> {
        const auto change = part.heap_event(event);
        if (!change || (change->change == HeapChange::allocated) != is_allocation) return {};
        const bool is_in = address >= change->address &&
                           address - change->address < std::max<std::uint64_t>(change->size, 1);
        if (is_allocation && is_in) blocks.insert(change->address);
        if (is_allocation ? is_in : blocks.contains(change->address)) take(*change, event);
        return {};
      });
      if (!read) return tl::unexpected(read.error());
    }
  }
  std::stable_sort(found.begin(), found.end(), [](const Happened& a, const Happened& b) {
    return a.event.time < b.event.time;
  });
  return found;
}

// The newest block, the free of it, and how many there were before it.
struct Fate {
  const Happened *made = nullptr, *freed = nullptr;
  std::size_t earlier = 0;
};

Fate fate_of(const std::vector<Happened>& happened) {
  Fate fate;
  for (const Happened& each : happened) {
    if (each.event.change == HeapChange::allocated) {
      if (fate.made) ++fate.earlier;
      fate = {&each, nullptr, fate.earlier};
    } else if (fate.made && each.event.address == fate.made->event.address) {
      fate.freed = each.event.change == HeapChange::freed ? &each : nullptr;
    }
  }
  return fate;
}

class FateTable {
 public:
  FateTable(const Analysis& analysis, const StackList& stacks)
      : analysis_(analysis), stacks_(stacks) {
    table.columns = {{"item", {}}, {"value", {}}};
  }

  void add(const char* item, const Happened& happened, const char* without_stack) {
    const std::uint64_t start = analysis_.parts()[happened.part]->experiment().control.start_time;
    put(item, fmt::format(
                  "at {:.6f} s by thread {}",
                  seconds(Nanoseconds{happened.event.time - std::min(start, happened.event.time)}),
                  happened.thread));
    const auto path = stacks_.path_of(happened.part, happened.event.stack);
    if (path.empty() && *without_stack) return put("", without_stack);
    for (const std::string& name : stacks_.names_of(path)) put("", "  " + name);
  }
  void put(const std::string& item, const std::string& value) {
    Row row;
    row.emplace_back(item);
    row.emplace_back(value);
    table.rows.push_back(std::move(row));
  }

  Table table;

 private:
  const Analysis& analysis_;
  const StackList& stacks_;
};

}  // namespace

Result<Table> address_report(Analysis& analysis, const View& view, std::uint64_t address) {
  MetricList metrics;
  metrics.columns.emplace_back(MetricColumn{Flavour::exclusive, kAllocations, false});
  metrics.columns.emplace_back(Static::name);
  if (auto has = has_heap(analysis); !has) return tl::unexpected(has.error());
  const auto stacks = StackList::of(analysis, view, metrics);
  if (!stacks) return tl::unexpected(stacks.error());
  const auto happened = find_blocks(analysis, address, view.interrupt);
  if (!happened) return tl::unexpected(happened.error());
  const Fate fate = fate_of(*happened);
  if (!fate.made)
    return fault(fmt::format("{:#x} lies in no block that was allocated while the program was "
                             "recorded",
                             address),
                 "it may be older, on a stack, or in memory that no allocator gave");
  const HeapEvent& block = fate.made->event;
  FateTable fates(analysis, *stacks);
  fates.table.title = fmt::format(
      "{:#x} lies {} into a block of {} at {:#x}, which {}", address,
      counted(address - block.address, "byte"), counted(block.size, "byte"), block.address,
      fate.freed ? "was freed: who uses it now uses memory after it was freed" : "is allocated");
  fates.add("Allocated", *fate.made, "");
  if (fate.freed)
    fates.add("Freed", *fate.freed,
              "  its call stack was not recorded; `heaptrace on,free-stacks` does that");
  if (fate.earlier != 0)
    fates.put("Before", counted(fate.earlier, "other block") + " held that address");
  return stacks->with_losses(std::move(fates.table), analysis);
}

}  // namespace gnomon::reader
