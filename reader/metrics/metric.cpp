// The table of metrics. Any thread.
#include "reader/metrics/metric.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <deque>
#include <mutex>
#include <utility>

#include "libcollector/format/events.h"

namespace gnomon::reader {
namespace {

using format::IoOperation;
using format::ThreadState;

template <typename Value>
constexpr std::uint32_t bit_of(Value value) {
  return 1u << static_cast<unsigned>(value);
}

constexpr Condition kIsTick{"rest", bit_of(0), false};
template <typename... States>
constexpr Condition in_state(States... states) {
  return {"state", (bit_of(states) | ...), false};
}
constexpr Condition kOnCpu =
    in_state(ThreadState::unknown, ThreadState::user, ThreadState::system, ThreadState::running);
constexpr Condition kIsKnown{"parallelism", ~bit_of(0), true};

// Calls that have not failed.
constexpr Conditions calls(std::uint32_t operations) {
  return {Condition{"operation", operations, false}, Condition{"error", bit_of(0), false}};
}
constexpr std::uint32_t kReadBits = bit_of(IoOperation::read),
                        kWriteBits = bit_of(IoOperation::write),
                        kWaitBits = bit_of(IoOperation::wait) | bit_of(IoOperation::connect) |
                                    bit_of(IoOperation::accept);
constexpr Conditions kReadCalls = calls(kReadBits), kWriteCalls = calls(kWriteBits),
                     kWaitCalls = calls(kWaitBits),
                     kOther = calls(~(kReadBits | kWriteBits | kWaitBits)),
                     kFailed{Condition{"error", ~bit_of(0), true}};

constexpr std::array kMetrics{
    Metric{"totalcpu",
           "Total CPU",
           "Time on a CPU, in the program's code and in the kernel for the program.",
           Quantity::time,
           "clock",
           "weight",
           {kOnCpu}},
    Metric{"ticks",
           "CPU Ticks",
           "Clock samples: how many ticks of the clock the times rest on.",
           Quantity::count,
           "clock",
           "",
           {kIsTick}},
    Metric{"user",
           "User CPU",
           "Time on a CPU in the program's code.",
           Quantity::time,
           "clock",
           "weight",
           {in_state(ThreadState::user)}},
    Metric{"system",
           "System CPU",
           "Time on a CPU in the kernel, for the program.",
           Quantity::time,
           "clock",
           "weight",
           {in_state(ThreadState::system)}},
    Metric{"wait",
           "Wait CPU",
           "Time in which threads could have run and waited for a CPU.",
           Quantity::time,
           "clock",
           "weight",
           {in_state(ThreadState::wait_cpu)}},
    Metric{"lock",
           "User Lock",
           "Time in which threads waited for locks, conditions and other futexes.",
           Quantity::time,
           "clock",
           "weight",
           {in_state(ThreadState::lock)}},
    Metric{"pfault",
           "Page Fault",
           "Time in which threads waited for pages of their memory, of code or data.",
           Quantity::time,
           "clock",
           "weight",
           {in_state(ThreadState::page_fault)}},
    Metric{"sleep",
           "Sleep",
           "Time in which threads slept because they had asked to.",
           Quantity::time,
           "clock",
           "weight",
           {in_state(ThreadState::sleep)}},
    Metric{"owait",
           "Other Wait",
           "Time in which threads waited for something else, such as data.",
           Quantity::time,
           "clock",
           "weight",
           {in_state(ThreadState::other_wait)}},
    Metric{
        "blocked",
        "Blocked",
        "Time in which threads could not run: User Lock, Page Fault, Sleep, Other Wait, and what "
        "the reason is not known of.",
        Quantity::time,
        "clock",
        "weight",
        {in_state(ThreadState::lock, ThreadState::page_fault, ThreadState::sleep,
                  ThreadState::other_wait, ThreadState::blocked)}},
    Metric{"stop",
           "Stopped",
           "Time in which a debugger or a signal had stopped threads.",
           Quantity::time,
           "clock",
           "weight",
           {in_state(ThreadState::stopped)}},
    Metric{"total",
           "Total Thread",
           "Time that threads have lived, but for Stopped: the sum of Total CPU, Wait CPU and "
           "Blocked.",
           Quantity::time,
           "clock",
           "weight",
           {Condition{"state", ~(bit_of(ThreadState::unknown) | bit_of(ThreadState::stopped)),
                      false}}},
    Metric{"latency",
           "Latency",
           "Total CPU, divided by the number of the process's threads that were on a CPU at that "
           "moment: what the program would gain if that code took no time.",
           Quantity::time,
           "clock",
           "weight",
           {kOnCpu, kIsKnown},
           "parallelism"},
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
    Metric{"ioreadbytes", "Bytes Read", "Bytes that calls read from files and sockets.",
           Quantity::bytes, "io", "bytes", kReadCalls},
    Metric{"ioreadcnt", "Reads", "How many such calls.", Quantity::count, "io", "", kReadCalls},
    Metric{"ioreadtime", "Read Time", "Time in them.", Quantity::time, "io", "duration",
           kReadCalls},
    Metric{"iowritebytes", "Bytes Written", "Bytes that calls wrote to files and sockets.",
           Quantity::bytes, "io", "bytes", kWriteCalls},
    Metric{"iowritecnt", "Writes", "How many such calls.", Quantity::count, "io", "", kWriteCalls},
    Metric{"iowritetime", "Write Time", "Time in them.", Quantity::time, "io", "duration",
           kWriteCalls},
    Metric{"ioothercnt", "Other I/O Calls", "Calls that opened, closed, placed, flushed and so on.",
           Quantity::count, "io", "", kOther},
    Metric{"ioothertime", "Other I/O Time", "Time in them.", Quantity::time, "io", "duration",
           kOther},
    Metric{"iowaitcnt", "I/O Waits",
           "Calls that waited until descriptors were ready, or for a connection.", Quantity::count,
           "io", "", kWaitCalls},
    Metric{"iowaittime", "I/O Wait Time", "Time in them.", Quantity::time, "io", "duration",
           kWaitCalls},
    Metric{"ioerrorcnt", "I/O Errors", "Calls of any of these kinds that failed.", Quantity::count,
           "io", "", kFailed},
    Metric{"ioerrortime", "I/O Error Time", "Time in them.", Quantity::time, "io", "duration",
           kFailed},
    Metric{"accesses", "Accesses", "How often objects that were watched were read or written.",
           Quantity::count, "access", "weight"},
    Metric{"calls", "Calls", "How often functions that were watched were called.", Quantity::count,
           "call", "weight"},
};
static_assert(kMetrics[index(kTotalCpu)].key == "totalcpu");
static_assert(kMetrics[index(kTicks)].key == "ticks");
static_assert(kMetrics[index(kUserCpu)].key == "user");
static_assert(kMetrics[index(kSystemCpu)].key == "system");
static_assert(kMetrics[index(kWaitCpu)].key == "wait");
static_assert(kMetrics[index(kUserLock)].key == "lock");
static_assert(kMetrics[index(kTotalThread)].key == "total");
static_assert(kMetrics[index(kOtherIo)].key == "ioothercnt");
static_assert(kMetrics[index(kIoWaits)].key == "iowaitcnt");
static_assert(kMetrics[index(kIoErrors)].key == "ioerrorcnt");
static_assert(kMetrics[index(kAllocations)].key == "heapalloccnt");
static_assert(kMetrics[index(kBytesAllocated)].key == "heapallocbytes");
static_assert(kMetrics[index(kLeaks)].key == "heapleakcnt");
static_assert(kMetrics[index(kBytesLeaked)].key == "heapleakbytes");
static_assert(kMetrics[index(kSyncWait)].key == "sync");
static_assert(kMetrics[index(kSyncWaits)].key == "syncn");
static_assert(kMetrics[index(kBytesRead)].key == "ioreadbytes");
static_assert(kMetrics[index(kReads)].key == "ioreadcnt");
static_assert(kMetrics[index(kBytesWritten)].key == "iowritebytes");
static_assert(kMetrics[index(kWrites)].key == "iowritecnt");
static_assert(kMetrics[index(kAccesses)].key == "accesses");
static_assert(kMetrics[index(kCalls)].key == "calls");
static_assert(index(kCalls) + 1 == kMetrics.size());

// Rows are added and never changed, and their texts stay.
struct AllMetrics {
  std::array<Metric, kMostMetrics> rows;
  std::atomic<std::size_t> count = kMetrics.size();
  std::deque<std::string> texts;
  std::mutex guard;  // of additions
  AllMetrics() { std::copy(kMetrics.begin(), kMetrics.end(), rows.begin()); }
};

AllMetrics& all_metrics() {
  static AllMetrics all;
  return all;
}

}  // namespace

std::span<const Metric> metric_table() {
  const AllMetrics& all = all_metrics();
  return {all.rows.data(), all.count.load(std::memory_order_acquire)};
}

void know_counter(const std::string& name, const std::string& title, bool is_time) {
  AllMetrics& all = all_metrics();
  const std::lock_guard hold(all.guard);
  const std::size_t count = all.count.load();
  for (std::size_t i = 0; i < count; ++i)
    if (all.rows[i].key == name) return;
  if (count == all.rows.size()) return;
  const auto kept = [&](std::string text) -> std::string_view {
    return all.texts.emplace_back(std::move(text));
  };
  const std::string_view key = kept(name);
  all.rows[count] = {key,
                     kept(title),
                     kept(is_time ? "Time that the events of the counter " + name + " take."
                                  : "Events of the counter " + name + "."),
                     is_time ? Quantity::time : Quantity::count,
                     key,
                     "weight"};
  all.count.store(count + 1, std::memory_order_release);
}

}  // namespace gnomon::reader
