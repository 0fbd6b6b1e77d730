// Calls in which threads of the recorded process waited long, as they tell gnomon-sampler: the file
// `waits`. Any context; no lock, no errno, no heap.
#pragma once
#include <cstdint>
#include <span>

#include "libcollector/format/control.h"
#include "libcollector/record/experiment_directory.h"

namespace gnomon::collector {

class LongWaits {
 public:
  // Creates the file, or maps it if it is there, in place of that of the last recording. Without
  // room for it no wait is told, which is no failure. Normal context.
  void open(const ExperimentDirectory& directory);

  // The calling thread has waited.
  void put(std::uint32_t thread, const format::LongWait& wait);
  // Copies the thread's waits behind the first `seen`, as many as are kept, the oldest first, and
  // returns how many; makes `seen` the count of all.
  std::uint32_t take(std::uint32_t thread, std::uint32_t& seen,
                     std::span<format::LongWait, format::kLongWaitsKept> to) const;

 private:
  static constexpr std::uint64_t kBytes = format::kEndedThreads * sizeof(format::LongWaits);
  format::LongWaits* waits_;
};

}  // namespace gnomon::collector
