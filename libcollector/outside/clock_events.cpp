// The events that sample another process. In gnomon-sampler.
#include "libcollector/outside/clock_events.h"

#include <sys/ioctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "libcollector/outside/process_facts.h"

namespace gnomon::outside {
namespace {

// Some are this program's own.
bool has_room_for(std::size_t descriptors) {
  constexpr std::size_t kOwn = 64;
  rlimit limit{};
  return getrlimit(RLIMIT_NOFILE, &limit) != 0 || descriptors + kOwn <= limit.rlim_cur;
}

}  // namespace

// A thread may make others while this runs: until all that make some have events, the others are
// not covered by inheritance.
int ClockEvents::open(const Wanted& wanted, Begin begin, const Rings& rings) {
  constexpr int kMostPasses = 16;  // threads that end at once never cease to be new
  wanted_ = wanted;
  begin_ = begin;
  int error = 0;
  bool is_new = true;
  for (int pass = 0; pass < kMostPasses && is_new && error == 0; ++pass) {
    is_new = false;
    error = open_threads(threads_of(wanted.pid), rings, is_new);
  }
  if (error == 0 && coverage_.events() == 0) error = ESRCH;
  if (error != 0) close();
  return error;
}

// ESRCH: a thread that has ended meanwhile.
int ClockEvents::open_threads(const std::vector<pid_t>& threads, const Rings& rings, bool& is_new) {
  for (const pid_t thread : threads) {
    if (!seen_.insert(thread).second) continue;
    is_new = true;
    if (!has_room_for(coverage_.events() + rings.size())) return EMFILE;
    const std::size_t root = coverage_.add_root(static_cast<std::uint32_t>(thread));
    events_.emplace_back();
    faults_.emplace_back();
    for (const Ring& ring : rings) {
      Event event{-1, 0};
      const int error = open_one(thread, ring, event);
      if (event.file >= 0) events_.back().push_back(event);
      if (error == 0) coverage_.add_event(root, event.id);
      if (error != 0 && error != ESRCH) return error;
      if (error == 0 && !sees_kernel_ && wanted_.period != 0) open_for_faults(thread, ring, root);
    }
    if (wanted_.tells_counts) keep_counts_apart(thread);
  }
  return 0;
}

// Where two threads have the same events, the kernel swaps their contexts instead of switching, and
// then their counts, by the events' order (perf_event_sync_stat). A thread that has inherited its
// events has them in another order than the one they were opened on, if there are several on a CPU:
// counts get lost. An event that is not inherited makes the two differ.
void ClockEvents::keep_counts_apart(pid_t thread) {
  perf_event_attr attributes = common_attributes();
  attributes.disabled = 1;
  attributes.exclude_kernel = 1;
  if (const int file = open_event(attributes, thread, -1); file >= 0)
    events_.back().push_back({file, 0});
}

// Their stacks are a help, no condition. So many take the kernel half a millisecond or more. (Not
// by a frequency: after a burst the kernel waits for a hundred thousand faults.)
void ClockEvents::open_for_faults(pid_t thread, const Ring& ring, std::size_t root) {
  if (!has_room_for(coverage_.events() + 1)) return;
  perf_event_attr attributes = common_attributes();
  attributes.config = PERF_COUNT_SW_PAGE_FAULTS;
  attributes.sample_period = kFaults;
  attributes.inherit = 1;
  attributes.disabled = begin_ != Begin::now;
  attributes.enable_on_exec = begin_ == Begin::at_exec;
  attributes.watermark = 1;
  attributes.wakeup_watermark = static_cast<std::uint32_t>(ring.bytes() / 4);
  attributes.exclude_kernel = 1;
  ask_for_origin(attributes);
  ask_for_stack(attributes, wanted_.stack_bytes);
  Event event{open_event(attributes, thread, ring.cpu()), 0};
  if (event.file < 0) return;
  faults_.back().push_back(event);
  if (ioctl(event.file, PERF_EVENT_IOC_SET_OUTPUT, ring.descriptor()) != 0 ||
      ioctl(event.file, PERF_EVENT_IOC_ID, &faults_.back().back().id) != 0)
    return;
  fault_ids_.insert(faults_.back().back().id);
  coverage_.add_event(root, faults_.back().back().id);
}

// What the kernel refuses is left out for all: time in the kernel, then the count of what is lost.
int ClockEvents::open_one(pid_t thread, const Ring& ring, Event& event) {
  for (;;) {
    perf_event_attr attributes = common_attributes();
    attributes.config = wanted_.period == 0 ? PERF_COUNT_SW_DUMMY : PERF_COUNT_SW_TASK_CLOCK;
    attributes.sample_period = wanted_.period;
    attributes.inherit = 1;
    attributes.inherit_stat = wanted_.tells_counts ? 1 : 0;
    attributes.disabled = begin_ != Begin::now;
    attributes.enable_on_exec = begin_ == Begin::at_exec;
    attributes.watermark = 1;
    attributes.wakeup_watermark = static_cast<std::uint32_t>(ring.bytes() / 4);
    attributes.exclude_kernel = sees_kernel_ ? 0 : 1;
    attributes.mmap = attributes.mmap2 = 1;
    attributes.comm = attributes.comm_exec = 1;
    attributes.task = 1;
    if (tells_lost_) attributes.read_format = kFormatLost;
    ask_for_origin(attributes);
    ask_for_stack(attributes, wanted_.stack_bytes);
    event.file = open_event(attributes, thread, ring.cpu());
    if (event.file >= 0)
      return ioctl(event.file, PERF_EVENT_IOC_SET_OUTPUT, ring.descriptor()) == 0 &&
                     ioctl(event.file, PERF_EVENT_IOC_ID, &event.id) == 0
                 ? 0
                 : errno;
    if (event.file == -EACCES && std::exchange(sees_kernel_, false)) continue;
    if (event.file == -EINVAL && std::exchange(tells_lost_, false)) continue;
    return -event.file;
  }
}

template <typename Do>
void ClockEvents::each(Do each_event) const {
  for (const auto* const of_roots : {&events_, &faults_})
    for (const auto& root : *of_roots)
      for (const Event& event : root) each_event(event.file);
}

void ClockEvents::enable() const {
  each([](int file) { ioctl(file, PERF_EVENT_IOC_ENABLE, 0); });
}

void ClockEvents::disable() const {
  each([](int file) { ioctl(file, PERF_EVENT_IOC_DISABLE, 0); });
}

void ClockEvents::close() {
  each([](int file) { ::close(file); });
  events_.clear();
  faults_.clear();
}

// With an event the kernel ends those that are inherited from it.
bool ClockEvents::counts(const Origin& sample) {
  const auto [counts, given_up] = coverage_.judge(sample.event, sample.thread);
  if (given_up) {
    for (auto* const of_roots : {&events_, &faults_}) {
      for (const Event& event : (*of_roots)[*given_up]) ::close(event.file);
      (*of_roots)[*given_up].clear();
    }
  }
  return counts;
}

std::uint64_t ClockEvents::sum(std::uint64_t Figures::*figure) const {
  std::uint64_t sum = 0;
  for (const auto& root : events_)
    for (const Event& event : root) {
      Figures figures;
      if (read(event.file, &figures, sizeof figures) > 0) sum += figures.*figure;
    }
  return sum;
}

std::uint64_t ClockEvents::lost() const { return tells_lost_ ? sum(&Figures::lost) : 0; }

std::uint64_t ClockEvents::time_of_only_root(std::uint64_t of_heirs) const {
  const std::uint64_t all = events_.size() == 1 ? cpu_time() : 0;
  return all > of_heirs ? all - of_heirs : 0;
}

std::uint64_t ClockEvents::cpu_time() const {
  return coverage_.has_given_up() ? 0 : sum(&Figures::count);
}

}  // namespace gnomon::outside
