// Reports of allocations. LLDB's command thread, or the shell's.
#include <array>

#include "commands/reports/report_call.h"
#include "reader/report/traced/heap_reports.h"

namespace gnomon::commands {
namespace {

using reader::HeapList;

template <HeapList List>
Result<Answer> run_heap(Host& host, const Invocation& call) {
  return report_by(host, call, [](reader::Analysis& analysis, const reader::View& view) {
    return reader::heap_report(analysis, view, List);
  });
}

Result<Answer> run_of_heap(Host& host, const Invocation& call) {
  if (call.address) {
    const auto address = host.address_of(*call.address);
    if (!address) return tl::unexpected(address.error());
    return report_by(host, call, all_events(host, call),
                     [&](reader::Analysis& analysis, const reader::View& view) {
                       return reader::address_report(analysis, view, *address);
                     });
  }
  if (!call.live) return run_heap<HeapList::both>(host, call);
  return report_by(host, call, [&](reader::Analysis& analysis, const reader::View& view) {
    return reader::live_report(analysis, view, call.older_than);
  });
}

Result<Answer> run_statistics(Host& host, const Invocation& call) {
  return report_by(host, call, all_events(host, call),
                   [](reader::Analysis& analysis, const reader::View& view) {
                     return reader::heap_statistics_report(analysis, view);
                   });
}

constexpr Options kOfHeap =
    kListed | kEvents | OptionId::live | OptionId::older_than | OptionId::address;

constexpr std::array kHeap{
    Command{"heap", "", "", "Allocations and leaks, by call stack.",
            "What was recorded with `heaptrace on`, or `gnomon collect -H on`. A leak is an "
            "allocation that was not freed while the program was recorded: at a stop, what is "
            "allocated now. realloc frees a block and allocates another. Call stacks that pass the "
            "same lines are one; those that leaked most come first. In reports of functions and "
            "lines the metrics are heapalloccnt, heapallocbytes, heapleakcnt and heapleakbytes.\n"
            "`heap --live --since stop` shows what ran between two stops and left behind, `heap "
            "--older-than 10s` what has been there for that long, `heap --address p` which block a "
            "pointer leads to, and whether that was freed.\n",
            kOfHeap, Role::report, 0, run_of_heap},
    Command{"allocs", "", "", "Allocations, by call stack.",
            "As `heap`, of allocations alone, freed or not; those that allocated most bytes come "
            "first.\n",
            kListed | kEvents, Role::report, 0, run_heap<HeapList::allocations>},
    Command{"leaks", "", "", "What was allocated and not freed, by call stack.",
            "As `heap`, of what was not freed alone; those that leaked most bytes come first.\n",
            kListed | kEvents, Role::report, 0, run_heap<HeapList::leaks>},
    Command{"heapstat", "", "", "Totals of allocations, their peak, and their sizes.",
            "How much was allocated and freed; how much of it was temporary; when most was "
            "allocated, and by which call stacks (--limit tells how many); how many blocks there "
            "were of each size. Of the whole recording, whatever the filters are.\n",
            kListed, Role::report, 0, run_statistics},
};

}  // namespace

std::span<const Command> heap_commands() { return kHeap; }

}  // namespace gnomon::commands
