// The table of metrics: a row says what is summed of which events. Any thread.
#pragma once
#include <array>
#include <cstdint>
#include <string_view>

#include "libcollector/format/events.h"

namespace gnomon::reader {

enum class Quantity { time, bytes, count };

// Events with one of some values in a field; of a kind without the field the value is 0.
struct Condition {
  std::string_view field = {};    // empty: all events
  std::uint32_t values = ~0u;     // bits 1 << value
  bool has_larger_values = true;  // than 31
  constexpr bool contains(std::uint64_t value) const {
    return value < 32 ? (values >> value & 1) != 0 : has_larger_values;
  }
};
using Conditions = std::array<Condition, 2>;

struct Metric {
  std::string_view key;    // er_print's, or in its manner
  std::string_view title;  // "Total CPU"
  std::string_view help;   // a sentence
  Quantity quantity;
  std::string_view event;         // name of an event kind, or kLeakEvent
  std::string_view field;         // of that kind, summed up; empty: events are counted
  Conditions conditions = {};     // all are true of the events that it is about
  std::string_view divisor = {};  // a field by whose value that of `field` is divided; empty: none
};

// An allocation of which no free was recorded. No record says so.
inline constexpr const char* kLeakEvent = "leak";
// How the process used CPUs.
inline constexpr const char* kUseEvent = "use";
// What names files.
inline constexpr const char* kFileEvent = "file";

namespace metric_rows {

using format::IoOperation;
using format::ThreadState;

template <typename Value>
constexpr std::uint32_t bit_of(Value value) {
  return 1u << static_cast<unsigned>(value);
}

inline constexpr Condition kIsTick{"rest", bit_of(0), false};
template <typename... States>
constexpr Condition in_state(States... states) {
  return {"state", (bit_of(states) | ...), false};
}
inline constexpr Condition kOnCpu =
    in_state(ThreadState::unknown, ThreadState::user, ThreadState::system, ThreadState::running);
inline constexpr Condition kIsKnown{"parallelism", ~bit_of(0), true};

// Calls that have not failed.
constexpr Conditions calls(std::uint32_t operations) {
  return {Condition{"operation", operations, false}, Condition{"error", bit_of(0), false}};
}
inline constexpr std::uint32_t kReadBits = bit_of(IoOperation::read),
                               kWriteBits = bit_of(IoOperation::write),
                               kWaitBits = bit_of(IoOperation::wait) |
                                           bit_of(IoOperation::connect) |
                                           bit_of(IoOperation::accept);
inline constexpr Conditions kReadCalls = calls(kReadBits), kWriteCalls = calls(kWriteBits),
                            kWaitCalls = calls(kWaitBits),
                            kOther = calls(~(kReadBits | kWriteBits | kWaitBits)),
                            kFailed{Condition{"error", ~bit_of(0), true}};

}  // namespace metric_rows

inline constexpr std::array kMetrics{
    Metric{"totalcpu",
           "Total CPU",
           "Time on a CPU, in the program's code and in the kernel for the program.",
           Quantity::time,
           "clock",
           "weight",
           {metric_rows::kOnCpu}},
    Metric{"ticks",
           "CPU Ticks",
           "Clock samples: how many ticks of the clock the times rest on.",
           Quantity::count,
           "clock",
           "",
           {metric_rows::kIsTick}},
    Metric{"user",
           "User CPU",
           "Time on a CPU in the program's code.",
           Quantity::time,
           "clock",
           "weight",
           {metric_rows::in_state(format::ThreadState::user)}},
    Metric{"system",
           "System CPU",
           "Time on a CPU in the kernel, for the program.",
           Quantity::time,
           "clock",
           "weight",
           {metric_rows::in_state(format::ThreadState::system)}},
    Metric{"wait",
           "Wait CPU",
           "Time in which threads could have run and waited for a CPU.",
           Quantity::time,
           "clock",
           "weight",
           {metric_rows::in_state(format::ThreadState::wait_cpu)}},
    Metric{"lock",
           "User Lock",
           "Time in which threads waited for locks, conditions and other futexes.",
           Quantity::time,
           "clock",
           "weight",
           {metric_rows::in_state(format::ThreadState::lock)}},
    Metric{"pfault",
           "Page Fault",
           "Time in which threads waited for pages of their memory, of code or data.",
           Quantity::time,
           "clock",
           "weight",
           {metric_rows::in_state(format::ThreadState::page_fault)}},
    Metric{"sleep",
           "Sleep",
           "Time in which threads slept because they had asked to.",
           Quantity::time,
           "clock",
           "weight",
           {metric_rows::in_state(format::ThreadState::sleep)}},
    Metric{"owait",
           "Other Wait",
           "Time in which threads waited for something else, such as data.",
           Quantity::time,
           "clock",
           "weight",
           {metric_rows::in_state(format::ThreadState::other_wait)}},
    Metric{
        "blocked",
        "Blocked",
        "Time in which threads could not run: User Lock, Page Fault, Sleep, Other Wait, and what "
        "the reason is not known of.",
        Quantity::time,
        "clock",
        "weight",
        {metric_rows::in_state(format::ThreadState::lock, format::ThreadState::page_fault,
                               format::ThreadState::sleep, format::ThreadState::other_wait,
                               format::ThreadState::blocked)}},
    Metric{"stop",
           "Stopped",
           "Time in which a debugger or a signal had stopped threads.",
           Quantity::time,
           "clock",
           "weight",
           {metric_rows::in_state(format::ThreadState::stopped)}},
    Metric{"total",
           "Total Thread",
           "Time that threads have lived, but for Stopped: the sum of Total CPU, Wait CPU and "
           "Blocked.",
           Quantity::time,
           "clock",
           "weight",
           {Condition{"state",
                      ~(metric_rows::bit_of(format::ThreadState::unknown) |
                        metric_rows::bit_of(format::ThreadState::stopped)),
                      false}}},
    Metric{"latency",
           "Latency",
           "Total CPU, divided by the number of the process's threads that were on a CPU at that "
           "moment: what the program would gain if that code took no time.",
           Quantity::time,
           "clock",
           "weight",
           {metric_rows::kOnCpu, metric_rows::kIsKnown},
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
           Quantity::bytes, "io", "bytes", metric_rows::kReadCalls},
    Metric{"ioreadcnt", "Reads", "How many such calls.", Quantity::count, "io", "",
           metric_rows::kReadCalls},
    Metric{"ioreadtime", "Read Time", "Time in them.", Quantity::time, "io", "duration",
           metric_rows::kReadCalls},
    Metric{"iowritebytes", "Bytes Written", "Bytes that calls wrote to files and sockets.",
           Quantity::bytes, "io", "bytes", metric_rows::kWriteCalls},
    Metric{"iowritecnt", "Writes", "How many such calls.", Quantity::count, "io", "",
           metric_rows::kWriteCalls},
    Metric{"iowritetime", "Write Time", "Time in them.", Quantity::time, "io", "duration",
           metric_rows::kWriteCalls},
    Metric{"ioothercnt", "Other I/O Calls", "Calls that opened, closed, placed, flushed and so on.",
           Quantity::count, "io", "", metric_rows::kOther},
    Metric{"ioothertime", "Other I/O Time", "Time in them.", Quantity::time, "io", "duration",
           metric_rows::kOther},
    Metric{"iowaitcnt", "I/O Waits",
           "Calls that waited until descriptors were ready, or for a connection.", Quantity::count,
           "io", "", metric_rows::kWaitCalls},
    Metric{"iowaittime", "I/O Wait Time", "Time in them.", Quantity::time, "io", "duration",
           metric_rows::kWaitCalls},
    Metric{"ioerrorcnt", "I/O Errors", "Calls of any of these kinds that failed.", Quantity::count,
           "io", "", metric_rows::kFailed},
    Metric{"ioerrortime", "I/O Error Time", "Time in them.", Quantity::time, "io", "duration",
           metric_rows::kFailed},
    Metric{"accesses", "Accesses", "How often objects that were watched were read or written.",
           Quantity::count, "access", "weight"},
    Metric{"calls", "Calls", "How often functions that were watched were called.", Quantity::count,
           "call", "weight"},
};

}  // namespace gnomon::reader
