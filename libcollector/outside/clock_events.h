// The events that sample another process: one for each of its threads and CPU, inherited by what
// these make. In gnomon-sampler.
#pragma once
#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "libcollector/outside/ring.h"

namespace gnomon::outside {

class ClockEvents {
 public:
  ClockEvents() = default;
  ~ClockEvents() { close(); }
  ClockEvents(ClockEvents&&) = delete;

  // Opens events on the threads of process `pid` that write into the rings of their CPUs: samples
  // each `period` ns of CPU time with `stack_bytes` of the stack, new mappings, and what becomes of
  // threads. Returns 0, or errno with nothing open.
  int open(pid_t pid, std::uint64_t period, std::uint32_t stack_bytes, const Rings& rings);
  void close();

  // Returns true if time in the kernel is sampled: else only the user's.
  bool sees_kernel() const { return sees_kernel_; }
  // How many records the kernel could not write; 0 if it does not tell (Linux 6.0).
  std::uint64_t lost() const;

 private:
  int open_one(pid_t thread, const Ring& ring);

  std::vector<int> events_;
  bool sees_kernel_ = true, tells_lost_ = true;
  std::uint64_t period_ = 0;
  std::uint32_t stack_bytes_ = 0;
};

}  // namespace gnomon::outside
