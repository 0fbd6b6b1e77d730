// The events that sample another process: one for each of its threads and CPU, inherited by what
// these make. In gnomon-sampler.
#include "libcollector/outside/clock_events.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <utility>

#include "libcollector/outside/record.h"

namespace gnomon::outside {
namespace {

#ifdef PERF_FORMAT_LOST
constexpr std::uint64_t kFormatLost = PERF_FORMAT_LOST;
#else
constexpr std::uint64_t kFormatLost = 1 << 4;  // Linux 6.0
#endif

std::vector<pid_t> threads_of(pid_t pid) {
  std::vector<pid_t> threads;
  std::error_code error;
  for (const auto& task :
       std::filesystem::directory_iterator("/proc/" + std::to_string(pid) + "/task", error))
    threads.push_back(static_cast<pid_t>(std::atoi(task.path().filename().c_str())));
  return threads;
}

}  // namespace

int ClockEvents::open(pid_t pid, std::uint64_t period, std::uint32_t stack_bytes,
                      const Rings& rings) {
  period_ = period;
  stack_bytes_ = stack_bytes;
  const std::vector<pid_t> threads = threads_of(pid);
  int error = threads.empty() ? ESRCH : 0;
  for (const pid_t thread : threads)
    for (const Ring& ring : rings)
      if (error == 0 || error == ESRCH) error = open_one(thread, ring);
  if (error == ESRCH && !events_.empty()) error = 0;  // a thread that has ended meanwhile
  if (error != 0) close();
  return error;
}

// What the kernel refuses is left out for all: time in the kernel, then the count of what is lost.
int ClockEvents::open_one(pid_t thread, const Ring& ring) {
  for (;;) {
    perf_event_attr attributes = common_attributes();
    attributes.config = PERF_COUNT_SW_TASK_CLOCK;
    attributes.sample_period = period_;
    attributes.inherit = 1;
    attributes.watermark = 1;
    attributes.wakeup_watermark = static_cast<std::uint32_t>(ring.bytes() / 4);
    attributes.exclude_kernel = sees_kernel_ ? 0 : 1;
    attributes.mmap = attributes.mmap2 = 1;
    attributes.comm = attributes.comm_exec = 1;
    attributes.task = 1;
    if (tells_lost_) attributes.read_format = kFormatLost;
    ask_for_origin(attributes);
    ask_for_stack(attributes, stack_bytes_);
    const int event = open_event(attributes, thread, ring.cpu());
    if (event >= 0) {
      events_.push_back(event);
      return ioctl(event, PERF_EVENT_IOC_SET_OUTPUT, ring.descriptor()) == 0 ? 0 : errno;
    }
    if (event == -EACCES && std::exchange(sees_kernel_, false)) continue;
    if (event == -EINVAL && std::exchange(tells_lost_, false)) continue;
    return -event;
  }
}

void ClockEvents::close() {
  for (const int event : events_) ::close(event);
  events_.clear();
}

std::uint64_t ClockEvents::lost() const {
  std::uint64_t sum = 0;
  if (!tells_lost_) return sum;
  for (const int event : events_) {
    struct {
      std::uint64_t count, lost;
    } figures{};
    if (read(event, &figures, sizeof figures) == sizeof figures) sum += figures.lost;
  }
  return sum;
}

}  // namespace gnomon::outside
