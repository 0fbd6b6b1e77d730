// Waits of threads for others, as they were recorded. Any thread, one at a time.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "libcollector/format/events.h"
#include "reader/analysis/analysis.h"
#include "reader/analysis/view.h"
#include "reader/base/result.h"
#include "reader/heap/heap_statistics.h"
#include "reader/metrics/metric_list.h"
#include "reader/report/traced/stack_list.h"
#include "reader/symbols/data_names.h"

namespace gnomon::reader {

struct RecordedWait {
  std::uint64_t begin = 0, end = 0;  // CLOCK_MONOTONIC, ns
  std::uint64_t object = 0;          // address; of a join, a pthread_t
  std::uint32_t kind = 0;            // format::WaitKind
  std::uint32_t thread = 0;
  std::uint32_t holder = 0;  // thread that had the object, or that ended the wait; 0: not known
  std::uint32_t stack = 0;
  bool is_chosen = false;  // the span and the filter contain it
};

// A clock sample: that much CPU time up to then.
struct TakenSample {
  std::uint64_t time = 0;    // CLOCK_MONOTONIC, ns
  std::uint64_t weight = 0;  // ns
  std::uint32_t stack = 0;
};

// Time off a CPU, as the kernel counts it: `weight` ns of those from `begin` to `end`.
struct RecordedRest {
  std::uint64_t begin = 0, end = 0;  // CLOCK_MONOTONIC, ns
  std::uint64_t weight = 0;
  format::ThreadState state = format::ThreadState::unknown;
  std::uint32_t stack = 0;
};

struct ThreadPast {
  std::vector<RecordedWait> waits;   // by their ends
  std::vector<TakenSample> samples;  // by their times
  std::vector<RecordedRest> rests;   // by their ends
};

// Up to `end` (CLOCK_MONOTONIC, ns) for `length` ns; for `idle` of those the process used fewer
// CPUs than it had.
struct UsedCpus {
  std::uint64_t end = 0, length = 0, idle = 0;
};

// How a process used its CPUs, in the order of time.
class CpuTimes {
 public:
  explicit CpuTimes(std::vector<UsedCpus> stretches);
  bool is_known() const { return !stretches_.empty(); }
  // Between two instants, ns.
  std::uint64_t idle(std::uint64_t begin, std::uint64_t end) const;

 private:
  std::vector<UsedCpus> stretches_;
};
// Fault: damage, or the user interrupted.
Result<CpuTimes> cpu_times_of(Part& part, const Interrupt& interrupt);

// By thread. Fault: damage, or the user interrupted.
using ThreadPasts = std::unordered_map<std::uint32_t, ThreadPast>;
Result<ThreadPasts> pasts_of(Part& part, const Interrupt& interrupt);

// What reports of waits are about.
MetricList wait_metrics();

// Fault: says that no wait was recorded.
Result<void> has_waits(const Analysis& analysis);

// "mutex", "read lock"
std::string kind_name(std::uint32_t kind);

// Names what was waited for: a variable, a block of memory, a thread.
class ObjectNames {
 public:
  ObjectNames(const Analysis& analysis, const StackList& stacks)
      : analysis_(analysis), stacks_(stacks), data_(analysis.address_space()) {}
  // "mutex queue", "end of threads", "mutex in a block of 64 bytes, allocated in main, line 3"
  std::string name_of(std::size_t part, const RecordedWait& wait, const Interrupt& interrupt);

 private:
  struct Block {
    std::uint64_t address;
    HeapBlock block;
  };
  // That are allocated still, by address.
  const std::vector<Block>& blocks_of(std::size_t part);

  const Analysis& analysis_;
  const StackList& stacks_;
  std::map<std::size_t, std::vector<Block>> blocks_;
  DataNames data_;
};

}  // namespace gnomon::reader
