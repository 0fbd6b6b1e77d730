// Reports of allocations. LLDB's command thread, or the shell's.
#include <array>

#include "commands/reports/report_call.h"
#include "reader/report/heap/heap_reports.h"

namespace gnomon::commands {
namespace {

using reader::HeapList;

template <HeapList List>
Result<Answer> run_heap(Host& host, const Invocation& call) {
  return report_by(host, call, [](reader::Analysis& analysis, const reader::View& view) {
    return reader::heap_report(analysis, view, List);
  });
}

constexpr std::array kHeap{
    Command{"heap", "", "", "Allocations and leaks, by call stack.",
            "What was recorded with `heaptrace on`, or `gnomon collect -H on`. A leak is an "
            "allocation that was not freed while the program was recorded: at a stop, what is "
            "allocated now. realloc frees a block and allocates another. Call stacks that pass the "
            "same lines are one; those that leaked most come first. In reports of functions and "
            "lines the metrics are heapalloccnt, heapallocbytes, heapleakcnt and heapleakbytes.\n",
            kListed | kEvents, Role::report, 0, run_heap<HeapList::both>},
    Command{"allocs", "", "", "Allocations, by call stack.",
            "As `heap`, of allocations alone, freed or not; those that allocated most bytes come "
            "first.\n",
            kListed | kEvents, Role::report, 0, run_heap<HeapList::allocations>},
    Command{"leaks", "", "", "What was allocated and not freed, by call stack.",
            "As `heap`, of what was not freed alone; those that leaked most bytes come first.\n",
            kListed | kEvents, Role::report, 0, run_heap<HeapList::leaks>},
};

}  // namespace

std::span<const Command> heap_commands() { return kHeap; }

}  // namespace gnomon::commands
