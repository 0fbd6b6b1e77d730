// The kernel's ring buffer of one CPU, into which events of other processes write. In
// gnomon-sampler.
#pragma once
#include <linux/perf_event.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace gnomon::outside {

// perf_event_open(2). Returns a descriptor, or -errno.
int open_event(const perf_event_attr& attributes, int pid, int cpu);

// What every event that writes into a ring has to have in common with it.
perf_event_attr common_attributes();

// The buffer belongs to an event of this program's own, which counts nothing: so it outlives the
// events that write into it, and can be polled when their thread has ended.
class Ring {
 public:
  Ring() = default;
  ~Ring();
  Ring(Ring&& other) noexcept;
  Ring& operator=(Ring&&) = delete;

  // Maps a ring of `bytes`, a power of two of pages, or of as much of that as the kernel allows (4
  // pages at least). Returns 0 or errno.
  int open(int cpu, std::size_t bytes);

  int cpu() const { return cpu_; }
  int descriptor() const { return descriptor_; }
  std::size_t bytes() const { return bytes_; }

  // Looks how far the kernel has written: pop() leads no further until the next call.
  void look();
  // The oldest record that is left; null if there is none. Valid until pop().
  const perf_event_header* front() const { return front_; }
  void pop();

 private:
  void find_front();

  int cpu_ = -1, descriptor_ = -1;
  char* memory_ = nullptr;  // the kernel's page, then the ring
  std::size_t bytes_ = 0;
  std::uint64_t at_ = 0, end_ = 0;
  const perf_event_header* front_ = nullptr;
  std::vector<std::uint64_t> joined_;  // a record that reaches beyond the ring's end
};

}  // namespace gnomon::outside
