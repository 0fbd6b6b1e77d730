// Calls in which threads of the recorded process waited long, as they tell gnomon-sampler: the file
// `waits`. Any context; no lock, no errno, no heap.
#include "libcollector/record/long_waits.h"

#include <algorithm>

#include "libcollector/core/atomic.h"
#include "libcollector/format/names.h"
#include "libcollector/record/file_space.h"

namespace gnomon::collector {

using format::kLongWaitsKept;

void LongWaits::open(const ExperimentDirectory& directory) {
  const Range file =
      map_range({directory, format::kWaitsFile}, Create::if_missing, 0, kBytes, waits_);
  if (file.at) atomic(waits_).store(static_cast<format::LongWaits*>(file.at));
}

void LongWaits::put(std::uint32_t thread, const format::LongWait& wait) {
  format::LongWaits* const all = atomic(waits_).load();
  if (!all) return;
  format::LongWaits& own = all[thread % format::kEndedThreads];
  if (atomic(own.thread).load() != thread) {
    atomic(own.count).store(0);
    atomic(own.thread).store(thread);
  }
  const std::uint32_t count = atomic(own.count).load();
  format::LongWait& to = own.waits[count % kLongWaitsKept];
  atomic(to.begin).store(wait.begin);
  atomic(to.end).store(wait.end);
  atomic(to.stack).store(wait.stack);
  atomic(to.state).store(wait.state);
  atomic(own.count).store(count + 1, std::memory_order_release);
}

// A count that is smaller than before is that of another thread, which has taken the place.
std::uint32_t LongWaits::take(std::uint32_t thread, std::uint32_t& seen,
                              std::span<format::LongWait, kLongWaitsKept> to) const {
  if (!waits_) return 0;
  format::LongWaits& from = waits_[thread % format::kEndedThreads];
  const std::uint32_t count = atomic(from.count).load(std::memory_order_acquire);
  if (atomic(from.thread).load() != thread || count <= seen) return 0;
  // The one that is overwritten next may be half new.
  const std::uint32_t fresh = std::min(count - seen, kLongWaitsKept - 1);
  for (std::uint32_t i = 0; i < fresh; ++i) {
    format::LongWait& wait = from.waits[(count - fresh + i) % kLongWaitsKept];
    to[i] = {atomic(wait.begin).load(), atomic(wait.end).load(), atomic(wait.stack).load(),
             atomic(wait.state).load()};
  }
  seen = count;
  return fresh;
}

}  // namespace gnomon::collector
