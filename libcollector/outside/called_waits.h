// Where threads have waited, as they themselves have told. In gnomon-sampler.
#pragma once
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "libcollector/outside/wait_places.h"
#include "libcollector/record/thread_notes.h"

namespace gnomon::outside {

class CalledWaits {
 public:
  void open(const collector::ExperimentDirectory& directory) {
    waits_.open(directory);
    is_open_ = true;
  }
  // Returns the call in which the thread waited at some moment between `begin` and `end`
  // (CLOCK_MONOTONIC, ns); nothing if the thread has told of no such call. number: the number by
  // which the process itself knows the thread.
  std::optional<WaitPlace> find(std::uint32_t thread, std::uint32_t number, std::uint64_t begin,
                                std::uint64_t end);
  void forget(std::uint32_t thread) { threads_.erase(thread); }

 private:
  struct Thread {
    std::uint32_t seen = 0;
    std::vector<format::LongWait> waits;  // the oldest first
  };
  collector::LongWaits waits_{};
  bool is_open_ = false;
  std::unordered_map<std::uint32_t, Thread> threads_;
};

}  // namespace gnomon::outside
