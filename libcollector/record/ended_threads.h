// Threads of the recorded process that have ended, as they tell gnomon-sampler: the file `ended`.
// Any context; no lock, no errno, no heap.
#pragma once
#include <cstdint>

#include "libcollector/format/control.h"
#include "libcollector/record/experiment_directory.h"

namespace gnomon::collector {

class EndedThreads {
 public:
  // Creates the file, or maps it if it is there, in place of that of the last recording. Without
  // room for it no thread is told, which is no failure. Normal context.
  void open(const ExperimentDirectory& directory);

  void put(const format::EndedThread& ended);
  // Returns zeros if the thread has told nothing, or another one has taken its place.
  format::EndedThread find(std::uint32_t thread) const;

 private:
  static constexpr std::uint64_t kBytes = format::kEndedThreads * sizeof(format::EndedThread);
  format::EndedThread* places_;
};

}  // namespace gnomon::collector
