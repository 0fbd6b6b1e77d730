// How finely this machine can measure a thread's CPU time by signals. Any thread.
#include "commands/collect/machine_clock.h"

#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

namespace gnomon::commands {
namespace {

// As libcollector opens one.
bool can_open_task_clock() {
  perf_event_attr attributes{};
  attributes.size = sizeof attributes;
  attributes.type = PERF_TYPE_SOFTWARE;
  attributes.config = PERF_COUNT_SW_TASK_CLOCK;
  attributes.sample_period = 1'000'000'000;
  attributes.exclude_hv = 1;
  const long descriptor =
      syscall(SYS_perf_event_open, &attributes, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
  if (descriptor >= 0) close(static_cast<int>(descriptor));
  return descriptor >= 0;
}

std::uint64_t kernel_tick() {
  timespec tick{};
  clock_getres(CLOCK_MONOTONIC_COARSE, &tick);
  return static_cast<std::uint64_t>(tick.tv_nsec);
}

}  // namespace

const MachineClock& machine_clock() {
  static const MachineClock clock{can_open_task_clock(), kernel_tick()};
  return clock;
}

}  // namespace gnomon::commands
