// Which samples the kernel has written with another event's number. In gnomon-sampler.
#pragma once
#include <cstdint>
#include <unordered_map>
#include <utility>

#include "libcollector/outside/record.h"

namespace gnomon::outside {

// Two software events of a thread may count the same and sample the same moment. The kernel then
// fills one perf_sample_data for both: the second sample has the number and the time of the first
// (do_perf_sw_event() in kernel/events/core.c; perf_tp_event() there names the fault and avoids
// it). Nothing else has the same event, thread and time.
class Twins {
 public:
  // To be asked of every sample, in the order of its CPU. Returns true if another event, which
  // counts the same, wrote the sample under this event's number.
  bool is_of_another(const Origin& sample) {
    const Moment moment{sample.event, sample.time, sample.thread};
    return std::exchange(last_[sample.cpu], moment) == moment;
  }

 private:
  struct Moment {
    std::uint64_t event = 0, time = 0;
    std::uint32_t thread = 0;
    bool operator==(const Moment&) const = default;
  };
  std::unordered_map<std::uint32_t, Moment> last_;  // by CPU
};

}  // namespace gnomon::outside
