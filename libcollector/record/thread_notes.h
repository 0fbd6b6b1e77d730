// What threads of the recorded process tell gnomon-sampler: a file with a page for each thread,
// which alone writes it. Any context; no lock, no errno, no heap.
#pragma once
#include <algorithm>
#include <cstdint>
#include <span>

#include "libcollector/core/atomic.h"
#include "libcollector/format/control.h"
#include "libcollector/record/experiment_directory.h"
#include "libcollector/record/file_space.h"

namespace gnomon::collector {

// Page: format::KernelPlaces or format::LongWaits.
template <typename Page>
class ThreadNotes {
 public:
  using Note = typename Page::Note;
  using Notes = std::span<Note, Page::kKept>;

  // Creates the file, or maps it if it is there, in place of that of the last recording. Without
  // room for it nothing is told, which is no failure. Normal context.
  void open(const ExperimentDirectory& directory) {
    const Range file = map_range({directory, Page::kFile}, Create::if_missing, 0,
                                 format::kEndedThreads * sizeof(Page), pages_);
    if (file.at) atomic(pages_).store(static_cast<Page*>(file.at));
  }

  // thread: the calling one.
  void put(std::uint32_t thread, const Note& note) {
    Page* const pages = atomic(pages_).load();
    if (!pages) return;
    Page& own = pages[thread % format::kEndedThreads];
    if (atomic(own.thread).load() != thread) {
      atomic(own.count).store(0);
      atomic(own.thread).store(thread);
    }
    const std::uint32_t count = atomic(own.count).load();
    __builtin_memcpy(&own.notes[count % Page::kKept], &note, sizeof note);
    atomic(own.count).store(count + 1, std::memory_order_release);
  }

  // Copies the notes that the thread has made after the first `seen`, the oldest first, and returns
  // how many it has copied: fewer than Page::kKept, because the thread may be overwriting the
  // oldest note that is there. Sets `seen` to the number of all notes that the thread has made.
  std::uint32_t take(std::uint32_t thread, std::uint32_t& seen, Notes to) const {
    if (!pages_) return 0;
    Page& from = pages_[thread % format::kEndedThreads];
    const std::uint32_t count = atomic(from.count).load(std::memory_order_acquire);
    // A count that is smaller than before is that of another thread, which has taken the page.
    if (atomic(from.thread).load() != thread || count <= seen) return 0;
    const std::uint32_t first = count - std::min(count - seen, Page::kKept - 1);
    for (std::uint32_t i = first; i != count; ++i)
      __builtin_memcpy(&to[i - first], &from.notes[i % Page::kKept], sizeof(Note));
    std::atomic_thread_fence(std::memory_order_acquire);
    // The thread may have made more notes meanwhile, over the oldest of those.
    const std::uint32_t now = atomic(from.count).load();
    if (atomic(from.thread).load() != thread || now < count) return 0;
    const std::uint32_t lost =
        std::min(now - first < Page::kKept ? 0 : now - first - (Page::kKept - 1), count - first);
    const std::uint32_t fresh = count - first - lost;
    if (lost != 0) __builtin_memmove(&to[0], &to[lost], fresh * sizeof(Note));
    seen = count;
    return fresh;
  }

 private:
  Page* pages_;
};

using KernelPlaces = ThreadNotes<format::KernelPlaces>;
using LongWaits = ThreadNotes<format::LongWaits>;

}  // namespace gnomon::collector
