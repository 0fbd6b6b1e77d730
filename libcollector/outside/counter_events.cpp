// The events that count something in another process and sample it. In gnomon-sampler.
#include "libcollector/outside/counter_events.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>

#include "libcollector/outside/process_facts.h"

namespace gnomon::outside {
int CounterEvents::open(pid_t pid, const perf_event_attr& attributes, const Rings& rings) {
  constexpr int kPasses = 16;  // threads that end at once never cease to be new
  close();
  attributes_ = attributes;
  attributes_.inherit = attributes_.inherit_thread = 1;
  attributes_.watermark = 1;
  attributes_.wakeup_watermark = static_cast<std::uint32_t>(rings.front().bytes() / 4);
  attributes_.read_format =
      PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING | kFormatLost;
  int error = 0;
  bool is_new = true;
  for (int pass = 0; pass < kPasses && is_new && error == 0; ++pass) {
    is_new = false;
    error = open_threads(pid, rings, is_new);
  }
  if (error == 0 && ids_.empty()) error = ESRCH;
  if (error != 0) close();
  return error;
}

// ESRCH: a thread that has ended meanwhile.
int CounterEvents::open_threads(pid_t pid, const Rings& rings, bool& is_new) {
  for (const pid_t thread : threads_of(pid)) {
    if (!seen_.insert(thread).second) continue;
    is_new = true;
    coverage_.add_root(static_cast<std::uint32_t>(thread));
    roots_.emplace_back();
    for (const Ring& ring : rings)
      if (const int error = open_one(thread, ring); error != 0 && error != ESRCH) return error;
  }
  return 0;
}

// What some kernels do not know or refuse, without which the event is of use as well.
bool CounterEvents::leave_out(int error) {
  if (error == EACCES && attributes_.exclude_kernel == 0 && attributes_.exclude_user == 0) {
    attributes_.exclude_kernel = 1;
    return true;
  }
  if (error != EINVAL) return false;
  if (attributes_.read_format & kFormatLost) {
    attributes_.read_format &= ~kFormatLost;
    return true;
  }
  if (!attributes_.inherit_thread) return false;
  attributes_.inherit_thread = attributes_.remove_on_exec = 0;
  return true;
}

int CounterEvents::open_one(pid_t thread, const Ring& ring) {
  int file = open_event(attributes_, thread, ring.cpu());
  while (file < 0 && leave_out(-file)) file = open_event(attributes_, thread, ring.cpu());
  if (file < 0) return -file;
  roots_.back().push_back(file);
  std::uint64_t id = 0;
  if (ioctl(file, PERF_EVENT_IOC_SET_OUTPUT, ring.descriptor()) != 0 ||
      ioctl(file, PERF_EVENT_IOC_ID, &id) != 0)
    return errno;
  ids_.insert(id);
  coverage_.add_event(roots_.size() - 1, id);
  return 0;
}

void CounterEvents::close() {
  for (const auto& root : roots_)
    for (const int file : root) ::close(file);
  roots_.clear();
  seen_.clear();
}

// With an event the kernel ends those that are inherited from it.
bool CounterEvents::counts(const Origin& sample) {
  const auto [counts, given_up] = coverage_.judge(sample.event, sample.thread);
  if (given_up && *given_up < roots_.size()) {
    for (const int file : roots_[*given_up]) ::close(file);
    roots_[*given_up].clear();
  }
  return counts;
}

CounterEvents::Figures CounterEvents::figures() const {
  Figures sum;
  for (const auto& root : roots_)
    for (const int file : root) {
      Figures one;
      if (read(file, &one, sizeof one) <= 0) continue;
      sum.count += one.count;
      sum.enabled += one.enabled;
      sum.running += one.running;
      sum.lost += one.lost;
    }
  return sum;
}

}  // namespace gnomon::outside
