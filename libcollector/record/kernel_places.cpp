// Where threads of the recorded process are in the kernel, as their own ticks tell gnomon-sampler:
// the file `places`. Any context; no lock, no errno, no heap.
#include "libcollector/record/kernel_places.h"

#include <algorithm>

#include "libcollector/core/atomic.h"
#include "libcollector/format/names.h"
#include "libcollector/record/file_space.h"

namespace gnomon::collector {

using format::kPlacesKept;

void KernelPlaces::open(const ExperimentDirectory& directory) {
  const Range file =
      map_range({directory, format::kPlacesFile}, Create::if_missing, 0, kBytes, places_);
  if (file.at) atomic(places_).store(static_cast<format::KernelPlaces*>(file.at));
}

void KernelPlaces::put(std::uint32_t thread, std::uint32_t stack) {
  format::KernelPlaces* const all = atomic(places_).load();
  if (!all) return;
  format::KernelPlaces& own = all[thread % format::kEndedThreads];
  if (atomic(own.thread).load() != thread) {
    atomic(own.count).store(0);
    atomic(own.thread).store(thread);
  }
  const std::uint32_t count = atomic(own.count).load();
  atomic(own.stacks[count % kPlacesKept]).store(stack);
  atomic(own.count).store(count + 1, std::memory_order_release);
}

// A count that is smaller than before is that of another thread, which has taken the place.
std::uint32_t KernelPlaces::take(std::uint32_t thread, std::uint32_t& seen,
                                 std::span<std::uint32_t, kPlacesKept> stacks) const {
  if (!places_) return 0;
  format::KernelPlaces& from = places_[thread % format::kEndedThreads];
  const std::uint32_t count = atomic(from.count).load(std::memory_order_acquire);
  if (atomic(from.thread).load() != thread || count <= seen) return 0;
  const std::uint32_t fresh = std::min(count - seen, kPlacesKept);
  for (std::uint32_t i = 0; i < fresh; ++i)
    stacks[i] = atomic(from.stacks[(count - 1 - i) % kPlacesKept]).load();
  if (atomic(from.thread).load() != thread) return 0;
  seen = count;
  return fresh;
}

}  // namespace gnomon::collector
