// Counters that Gnomon knows by a short name. In gnomon-counters.
#include "libcollector/counters/known.h"

#include <linux/perf_event.h>

#include <array>

namespace gnomon::counters {
namespace {

struct Row {
  const char* name;
  const char* title;
  const char* alias_of;
  std::uint32_t type;
  std::uint64_t config, interval;
  bool needs_kernel, is_memory, is_cycles;
};

constexpr std::uint64_t cache(std::uint64_t which, std::uint64_t operation, std::uint64_t result) {
  return which | operation << 8 | result << 16;
}
constexpr std::uint64_t misses(std::uint64_t which) {
  return cache(which, PERF_COUNT_HW_CACHE_OP_READ, PERF_COUNT_HW_CACHE_RESULT_MISS);
}

// Intervals are primes, so that no program of a regular course keeps step with them.
constexpr std::array kRows{
    Row{"cycles", "CPU Cycles", "PERF_COUNT_HW_CPU_CYCLES", PERF_TYPE_HARDWARE,
        PERF_COUNT_HW_CPU_CYCLES, 9'999'991, false, false, true},
    Row{"insts", "Instructions Executed", "PERF_COUNT_HW_INSTRUCTIONS", PERF_TYPE_HARDWARE,
        PERF_COUNT_HW_INSTRUCTIONS, 9'999'991, false, false, false},
    Row{"branches", "Branches", "PERF_COUNT_HW_BRANCH_INSTRUCTIONS", PERF_TYPE_HARDWARE,
        PERF_COUNT_HW_BRANCH_INSTRUCTIONS, 1'000'003, false, false, false},
    Row{"brm", "Branch Mispredictions", "PERF_COUNT_HW_BRANCH_MISSES", PERF_TYPE_HARDWARE,
        PERF_COUNT_HW_BRANCH_MISSES, 100'003, false, false, false},
    Row{"cacher", "Cache References", "PERF_COUNT_HW_CACHE_REFERENCES", PERF_TYPE_HARDWARE,
        PERF_COUNT_HW_CACHE_REFERENCES, 1'000'003, false, false, false},
    Row{"cachem", "Cache Misses", "PERF_COUNT_HW_CACHE_MISSES", PERF_TYPE_HARDWARE,
        PERF_COUNT_HW_CACHE_MISSES, 100'003, false, false, false},
    Row{"dcm", "L1 D-cache Misses", "PERF_COUNT_HW_CACHE_L1D:READ:MISS", PERF_TYPE_HW_CACHE,
        misses(PERF_COUNT_HW_CACHE_L1D), 1'000'003, false, false, false},
    Row{"icm", "L1 I-cache Misses", "PERF_COUNT_HW_CACHE_L1I:READ:MISS", PERF_TYPE_HW_CACHE,
        misses(PERF_COUNT_HW_CACHE_L1I), 100'003, false, false, false},
    Row{"llm", "Last-Level Cache Misses", "PERF_COUNT_HW_CACHE_LL:READ:MISS", PERF_TYPE_HW_CACHE,
        misses(PERF_COUNT_HW_CACHE_LL), 100'003, false, false, false},
    Row{"dtlbm", "DTLB Misses", "PERF_COUNT_HW_CACHE_DTLB:READ:MISS", PERF_TYPE_HW_CACHE,
        misses(PERF_COUNT_HW_CACHE_DTLB), 100'003, false, false, false},
    Row{"itlbm", "ITLB Misses", "PERF_COUNT_HW_CACHE_ITLB:READ:MISS", PERF_TYPE_HW_CACHE,
        misses(PERF_COUNT_HW_CACHE_ITLB), 100'003, false, false, false},
    Row{"page-faults", "Page Faults", "PERF_COUNT_SW_PAGE_FAULTS", PERF_TYPE_SOFTWARE,
        PERF_COUNT_SW_PAGE_FAULTS, 97, false, true, false},
    Row{"minor-faults", "Minor Page Faults", "PERF_COUNT_SW_PAGE_FAULTS_MIN", PERF_TYPE_SOFTWARE,
        PERF_COUNT_SW_PAGE_FAULTS_MIN, 97, false, true, false},
    Row{"major-faults", "Major Page Faults", "PERF_COUNT_SW_PAGE_FAULTS_MAJ", PERF_TYPE_SOFTWARE,
        PERF_COUNT_SW_PAGE_FAULTS_MAJ, 1, false, true, false},
    Row{"context-switches", "Context Switches", "PERF_COUNT_SW_CONTEXT_SWITCHES",
        PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES, 97, true, false, false},
    Row{"cpu-migrations", "CPU Migrations", "PERF_COUNT_SW_CPU_MIGRATIONS", PERF_TYPE_SOFTWARE,
        PERF_COUNT_SW_CPU_MIGRATIONS, 7, true, false, false},
};

}  // namespace

std::vector<Known> aliased() {
  std::vector<Known> known;
  for (const Row& row : kRows) {
    Known one;
    one.counter.name = row.name;
    one.counter.title = row.title;
    one.counter.type = row.type;
    one.counter.config = row.config;
    one.counter.interval = row.interval;
    one.counter.is_cycles = row.is_cycles;
    one.alias_of = row.alias_of;
    one.needs_kernel = row.needs_kernel;
    if (row.is_memory) one.type = "load-store";
    known.push_back(std::move(one));
  }
  return known;
}

}  // namespace gnomon::counters
