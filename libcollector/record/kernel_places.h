// Where threads of the recorded process are in the kernel, as their own ticks tell gnomon-sampler:
// the file `places`. Any context; no lock, no errno, no heap.
#pragma once
#include <cstdint>
#include <span>

#include "libcollector/format/control.h"
#include "libcollector/record/experiment_directory.h"

namespace gnomon::collector {

class KernelPlaces {
 public:
  // Creates the file, or maps it if it is there, in place of that of the last recording. Without
  // room for it no place is told, which is no failure. Normal context.
  void open(const ExperimentDirectory& directory);

  // The calling thread was in a system call, which that call stack has made.
  void put(std::uint32_t thread, std::uint32_t stack);
  // Copies the thread's latest stacks behind the first `seen`, as many as are kept, and returns how
  // many; makes `seen` the count of all.
  std::uint32_t take(std::uint32_t thread, std::uint32_t& seen,
                     std::span<std::uint32_t, format::kPlacesKept> stacks) const;

 private:
  static constexpr std::uint64_t kBytes = format::kEndedThreads * sizeof(format::KernelPlaces);
  format::KernelPlaces* places_;
};

}  // namespace gnomon::collector
