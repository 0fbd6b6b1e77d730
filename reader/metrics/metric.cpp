// The table of metrics. Any thread.
#include "reader/metrics/metric.h"

#include <array>

namespace gnomon::reader {
namespace {

constexpr std::array kMetrics{
    Metric{"totalcpu", "Total CPU",
           "Time on a CPU, in the program's code and in the kernel for the program.",
           Quantity::time, "clock", "weight"},
    Metric{"ticks", "CPU Ticks", "Clock samples: how many ticks of the clock the times rest on.",
           Quantity::count, "clock", ""},
    Metric{"heapalloccnt", "Allocations", "Calls that allocated memory.", Quantity::count,
           "allocation", ""},
    Metric{"heapallocbytes", "Bytes Allocated", "Bytes that those calls asked for.",
           Quantity::bytes, "allocation", "size"},
    Metric{"heapleakcnt", "Leaks",
           "Allocations that were not freed while the program was recorded.", Quantity::count,
           kLeakEvent, ""},
    Metric{"heapleakbytes", "Bytes Leaked", "Bytes that those allocations asked for.",
           Quantity::bytes, kLeakEvent, "size"},
    Metric{"sync", "Sync Wait",
           "Time in calls that waited for another thread: for locks, conditions, barriers, "
           "semaphores, or its end.",
           Quantity::time, "wait", "duration"},
    Metric{"syncn", "Sync Waits", "How many such calls.", Quantity::count, "wait", ""},
};
static_assert(kMetrics[index(kTotalCpu)].key == "totalcpu");
static_assert(kMetrics[index(kTicks)].key == "ticks");
static_assert(kMetrics[index(kAllocations)].key == "heapalloccnt");
static_assert(kMetrics[index(kBytesAllocated)].key == "heapallocbytes");
static_assert(kMetrics[index(kLeaks)].key == "heapleakcnt");
static_assert(kMetrics[index(kBytesLeaked)].key == "heapleakbytes");
static_assert(kMetrics[index(kSyncWait)].key == "sync");
static_assert(kMetrics[index(kSyncWaits)].key == "syncn");

}  // namespace

std::span<const Metric> metric_table() { return kMetrics; }

}  // namespace gnomon::reader
