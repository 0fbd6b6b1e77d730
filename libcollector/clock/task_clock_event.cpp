// A perf event on a thread's CPU clock, which ticks at exact intervals. Any context, signal
// handlers too.
#include "libcollector/clock/task_clock_event.h"

#include <fcntl.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <sys/mman.h>

#include <atomic>

#include "libcollector/core/own_descriptors.h"
#include "libcollector/core/syscall.h"

namespace gnomon::collector {
namespace {

constexpr long kPageBytes = 4096;
// The lowest number of an event, by which siginfo names its ticks. The number is the program's only
// where the event had to be opened among its descriptors; below the default limit of 1024.
constexpr std::int32_t kLowest = 1000;
constinit std::atomic<std::int32_t> highest = kLowest - 1;

// Returns the descriptor of perf_event_open(2), or -errno.
long open_event(pid_t thread, std::uint64_t interval) {
  perf_event_attr attributes{};
  attributes.size = sizeof attributes;
  attributes.type = PERF_TYPE_SOFTWARE;
  attributes.config = PERF_COUNT_SW_TASK_CLOCK;
  attributes.sample_period = interval;
  attributes.exclude_hv = 1;
  const long low = raw_syscall(SYS_perf_event_open, arg(&attributes), thread, -1, -1,
                               static_cast<long>(PERF_FLAG_FD_CLOEXEC));
  if (low < 0) return low;
  const long high = raw_syscall(SYS_fcntl, low, F_DUPFD_CLOEXEC, kLowest);
  raw_syscall(SYS_close, low);
  return high;
}

bool signals(pid_t thread, long descriptor) {
  const f_owner_ex owner{F_OWNER_TID, thread};
  return raw_syscall(SYS_fcntl, descriptor, F_SETOWN_EX, arg(&owner)) == 0 &&
         raw_syscall(SYS_fcntl, descriptor, F_SETSIG, SIGPROF) == 0 &&
         raw_syscall(SYS_fcntl, descriptor, F_SETFL, O_ASYNC) == 0;
}

void remember(std::int32_t descriptor) {
  std::int32_t seen = highest.load(std::memory_order_relaxed);
  while (seen < descriptor && !highest.compare_exchange_weak(seen, descriptor)) {
  }
}

// Returns the event's page, by which it lives; 0 or -errno on failure.
long map_event(pid_t thread, std::uint64_t interval) {
  const long descriptor = open_event(thread, interval);
  if (descriptor < 0) return descriptor;
  remember(static_cast<std::int32_t>(descriptor));
  long page = 0;
  if (signals(thread, descriptor))
    page = raw_syscall(SYS_mmap, 0, kPageBytes, PROT_READ, MAP_SHARED, descriptor, 0);
  raw_syscall(SYS_close, descriptor);
  return page;
}

}  // namespace

bool has_task_clock_events() {
  void* page = open_task_clock(1'000'000'000);
  if (page) close_task_clock(page);
  return page;
}

void* open_task_clock(std::uint64_t interval) {
  const auto thread = static_cast<pid_t>(raw_syscall(SYS_gettid));
  long page = 0;
  with_own_descriptors([&] { page = map_event(thread, interval); });
  return page > 0 ? reinterpret_cast<void*>(page) : nullptr;
}

void close_task_clock(void* page) { raw_syscall(SYS_munmap, arg(page), kPageBytes); }

bool is_event_descriptor(std::int32_t descriptor) {
  return descriptor >= kLowest && descriptor <= highest.load(std::memory_order_relaxed);
}

}  // namespace gnomon::collector
