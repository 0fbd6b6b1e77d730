// Tells where threads have spent the CPU time in the kernel that their clock does not show. In
// gnomon-sampler.
#pragma once
#include <cstdint>
#include <map>
#include <unordered_map>
#include <vector>

#include "libcollector/outside/thread_accounts.h"
#include "libcollector/record/thread_notes.h"

namespace gnomon::outside {

// Two things tell where: ticks of the threads' own timers that found them in a system call, and the
// kernel's records of page faults. A tick stands for the time between two; what is left of the
// kernel's time went to page faults, if there were any.
class KernelTime {
 public:
  // The threads' own ticks are read from now on, of which each stands for `tick` ns.
  void open(const collector::ExperimentDirectory& directory, std::uint64_t tick) {
    places_.open(directory);
    tick_ = tick;
  }
  // The kernel has counted so many page faults since its last record of one.
  void add_faults(std::uint32_t thread, std::uint32_t stack, std::uint64_t faults);
  // Splits a rest that is known to have been spent in the kernel; number: of its thread as the
  // process knows it. What nothing tells the place of stays as it is, last.
  std::vector<Rest> split(const Rest& rest, std::uint32_t number);
  void forget(std::uint32_t thread) { threads_.erase(thread); }

 private:
  struct Thread {
    std::uint32_t seen = 0;                                   // of its own ticks
    std::unordered_map<std::uint32_t, std::uint64_t> faults;  // by stack
  };
  collector::KernelPlaces places_{};
  std::uint64_t tick_ = 0;  // ns
  std::unordered_map<std::uint32_t, Thread> threads_;
};

}  // namespace gnomon::outside
