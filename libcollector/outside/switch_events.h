// The events that tell when the threads of another process leave a CPU and come back to one: of
// each thread and each CPU one, inherited by what these make. In gnomon-sampler.
#pragma once
#include <sys/types.h>

#include <cstdint>
#include <unordered_set>
#include <vector>

#include "libcollector/outside/record.h"
#include "libcollector/outside/ring.h"

namespace gnomon::outside {

class SwitchEvents {
 public:
  struct Wanted {
    pid_t pid;
    // One switch of so many is sampled, with its call stack; 0: none is. Needs the right to see the
    // kernel.
    std::uint64_t period = 0;
    std::uint32_t stack_bytes = 0;  // copied with each sample
  };
  SwitchEvents() = default;
  ~SwitchEvents() { close(); }
  SwitchEvents(SwitchEvents&&) = delete;

  // Opens the events, which write into the rings of their CPUs. Returns 0, or errno with nothing
  // open; EMFILE: the threads need more descriptors than this program may have.
  int open(const Wanted& wanted, const Rings& rings);
  void close();
  bool is_open() const { return !files_.empty(); }
  // Returns true if the sample is of a switch; also of events that have been closed since.
  bool is_sample(const Origin& sample) const { return ids_.contains(sample.event); }

 private:
  int open_threads(const std::vector<pid_t>& threads, const Rings& rings, bool& is_new);
  int open_one(pid_t thread, const Ring& ring);

  Wanted wanted_{};
  std::vector<int> files_;
  std::unordered_set<pid_t> seen_;
  std::unordered_set<std::uint64_t> ids_;
};

}  // namespace gnomon::outside
