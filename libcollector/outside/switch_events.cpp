// The events that tell when the threads of another process leave a CPU and come back to one. In
// gnomon-sampler.
#include "libcollector/outside/switch_events.h"

#include <sys/ioctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>

#include "libcollector/outside/process_facts.h"

namespace gnomon::outside {
namespace {

constexpr int kMostPasses = 16;  // threads that end at once never cease to be new

// Some descriptors are for other things.
bool is_scarce(int descriptor) {
  constexpr rlim_t kOwn = 64;
  rlimit limit{};
  return getrlimit(RLIMIT_NOFILE, &limit) == 0 &&
         static_cast<rlim_t>(descriptor) + kOwn > limit.rlim_cur;
}

}  // namespace

int SwitchEvents::open(const Wanted& wanted, const Rings& rings) {
  close();
  wanted_ = wanted;
  int error = 0;
  bool is_new = true;
  for (int pass = 0; pass < kMostPasses && is_new && error == 0; ++pass) {
    is_new = false;
    error = open_threads(threads_of(wanted.pid), rings, is_new);
  }
  if (error == 0 && files_.empty()) error = ESRCH;
  if (error != 0) close();
  return error;
}

// ESRCH: a thread that has ended meanwhile.
int SwitchEvents::open_threads(const std::vector<pid_t>& threads, const Rings& rings,
                               bool& is_new) {
  for (const pid_t thread : threads) {
    if (!seen_.insert(thread).second) continue;
    is_new = true;
    for (const Ring& ring : rings)
      if (const int error = open_one(thread, ring); error != 0 && error != ESRCH) return error;
  }
  return 0;
}

// The kernel is always in its own code when it samples a switch, so an event that excludes the
// kernel never samples any.
int SwitchEvents::open_one(pid_t thread, const Ring& ring) {
  perf_event_attr attributes = common_attributes();
  attributes.inherit = 1;
  attributes.context_switch = 1;
  attributes.watermark = 1;
  attributes.wakeup_watermark = static_cast<std::uint32_t>(ring.bytes() / 4);
  attributes.exclude_kernel = wanted_.period == 0 ? 1 : 0;
  ask_for_origin(attributes);
  if (wanted_.period != 0) {
    attributes.config = PERF_COUNT_SW_CONTEXT_SWITCHES;
    attributes.sample_period = wanted_.period;
    ask_for_stack(attributes, wanted_.stack_bytes);
  }
  const int file = open_event(attributes, thread, ring.cpu());
  if (file < 0) return -file;
  files_.push_back(file);
  if (is_scarce(file)) return EMFILE;
  std::uint64_t id = 0;
  if (ioctl(file, PERF_EVENT_IOC_SET_OUTPUT, ring.descriptor()) != 0 ||
      ioctl(file, PERF_EVENT_IOC_ID, &id) != 0)
    return errno;
  ids_.insert(id);
  return 0;
}

void SwitchEvents::close() {
  for (const int file : files_) ::close(file);
  files_.clear();
  seen_.clear();
}

}  // namespace gnomon::outside
