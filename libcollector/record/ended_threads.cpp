// Threads of the recorded process that have ended, as they tell gnomon-sampler: the file `ended`.
// Any context; no lock, no errno, no heap.
#include "libcollector/record/ended_threads.h"

#include "libcollector/core/atomic.h"
#include "libcollector/format/names.h"
#include "libcollector/record/file_space.h"

namespace gnomon::collector {

void EndedThreads::open(const ExperimentDirectory& directory) {
  const Range file =
      map_range({directory, format::kEndedFile}, Create::if_missing, 0, kBytes, places_);
  if (file.at) atomic(places_).store(static_cast<format::EndedThread*>(file.at));
}

void EndedThreads::put(const format::EndedThread& ended) {
  format::EndedThread* const places = atomic(places_).load();
  if (!places) return;
  format::EndedThread& place = places[ended.thread % format::kEndedThreads];
  atomic(place.thread).store(0);
  atomic(place.start).store(ended.start);
  atomic(place.cpu).store(ended.cpu);
  atomic(place.thread).store(ended.thread, std::memory_order_release);
}

format::EndedThread EndedThreads::find(std::uint32_t thread) const {
  if (!places_) return {};
  format::EndedThread& place = places_[thread % format::kEndedThreads];
  if (atomic(place.thread).load(std::memory_order_acquire) != thread) return {};
  const format::EndedThread found{thread, atomic(place.start).load(), atomic(place.cpu).load()};
  return atomic(place.thread).load() == thread ? found : format::EndedThread{};
}

}  // namespace gnomon::collector
