// Whether the processor's breakpoint registers work. In gnomon-sampler.
#include "libcollector/outside/breakpoint_trial.h"

#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <unistd.h>

#include <cstdint>

#include "libcollector/outside/ring.h"

namespace gnomon::outside {

// Where the kernel refuses the event, the answer is left to the breakpoint that is wanted.
bool breakpoints_work() {
  static const bool do_work = [] {
    static volatile std::uint64_t watched = 0;
    perf_event_attr writes{};
    writes.size = sizeof writes;
    writes.type = PERF_TYPE_BREAKPOINT;
    writes.bp_type = HW_BREAKPOINT_W;
    writes.bp_addr = reinterpret_cast<std::uint64_t>(&watched);
    writes.bp_len = sizeof watched;
    writes.exclude_kernel = writes.exclude_hv = 1;
    const int event = open_event(writes, 0, -1);
    if (event < 0) return true;
    watched = 1;
    std::uint64_t count = 0;
    const bool is_read = read(event, &count, sizeof count) == sizeof count;
    close(event);
    return !is_read || count != 0;
  }();
  return do_work;
}

}  // namespace gnomon::outside
