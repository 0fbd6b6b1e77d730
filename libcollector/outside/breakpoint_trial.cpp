// Whether the processor's breakpoint registers work, and what a hit costs. In gnomon-sampler.
#include "libcollector/outside/breakpoint_trial.h"

#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>

#include "libcollector/core/time.h"
#include "libcollector/outside/record.h"
#include "libcollector/outside/ring.h"

namespace gnomon::outside {
namespace {

constexpr std::uint64_t kWrites = 16;

volatile std::uint64_t watched = 0;

perf_event_attr writes() {
  perf_event_attr attributes = common_attributes();
  attributes.type = PERF_TYPE_BREAKPOINT;
  attributes.config = 0;
  attributes.bp_type = HW_BREAKPOINT_W;
  attributes.bp_addr = reinterpret_cast<std::uint64_t>(&watched);
  attributes.bp_len = sizeof watched;
  attributes.exclude_kernel = 1;
  return attributes;
}

// Returns how many of kWrites writes were hits, and sets the time of one, ns; -1: the kernel
// refuses the event.
std::int64_t write_under(perf_event_attr attributes, std::size_t ring_bytes, std::uint64_t& ns) {
  const int event = open_event(attributes, 0, -1);
  if (event < 0) return -1;
  void* const ring = ring_bytes == 0
                         ? MAP_FAILED
                         : mmap(nullptr, ring_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, event, 0);
  const std::uint64_t begin = collector::now(CLOCK_MONOTONIC);
  for (std::uint64_t i = 0; i < kWrites; ++i) watched = i;
  ns = (collector::now(CLOCK_MONOTONIC) - begin) / kWrites;
  std::int64_t hits = 0;
  if (read(event, &hits, sizeof hits) != sizeof hits) hits = -1;
  if (ring != MAP_FAILED) munmap(ring, ring_bytes);
  close(event);
  return hits;
}

// Where the kernel refuses the event, the answer is left to the breakpoint that is wanted. The ring
// has room for all samples: a page of the kernel's before it, then a power of two.
BreakpointTrial tried() {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  BreakpointTrial trial;
  std::uint64_t ns = 0;
  const std::int64_t hits = write_under(writes(), 0, ns);
  trial.do_work = hits != 0;
  if (hits <= 0) return trial;
  trial.counted = ns;
  perf_event_attr attributes = writes();
  attributes.sample_period = 1;
  ask_for_origin(attributes);
  ask_for_stack(attributes, kWatchStackBytes);
  attributes.exclude_kernel = 1;
  if (write_under(attributes, 17 * page, ns) > 0) trial.sampled = ns;
  return trial;
}

}  // namespace

const BreakpointTrial& breakpoint_trial() {
  static const BreakpointTrial trial = tried();
  return trial;
}

}  // namespace gnomon::outside
