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
};
static_assert(kMetrics[index(kTotalCpu)].key == "totalcpu");
static_assert(kMetrics[index(kTicks)].key == "ticks");

}  // namespace

std::span<const Metric> metric_table() { return kMetrics; }

}  // namespace gnomon::reader
