// The kernel's ring buffer of one CPU, into which events of other processes write. In
// gnomon-sampler.
#pragma once
#include <linux/perf_event.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <vector>

namespace gnomon::outside {

// perf_event_open(2). Returns a descriptor, or -errno.
int open_event(const perf_event_attr& attributes, int pid, int cpu);

// What every event that writes into a ring has to have in common with it.
perf_event_attr common_attributes();

// The buffer belongs to an event of this program's own, which counts nothing: so it outlives the
// events that write into it, and can be polled when their thread has ended. One thread reads its
// records, which may take long: a file may have to wait for a disk. Another one can fetch() them
// meanwhile, so that the kernel finds room.
class Ring {
 public:
  Ring() = default;
  ~Ring();
  Ring(const Ring&) = delete;
  Ring& operator=(const Ring&) = delete;

  // Maps a ring of `bytes`, a power of two of pages, or of as much of that as the kernel allows (4
  // pages at least). At most about 2 x `most_kept` bytes are kept besides. Returns 0 or errno.
  int open(int cpu, std::size_t bytes, std::size_t most_kept);

  int cpu() const { return cpu_; }
  int descriptor() const { return descriptor_; }
  std::size_t bytes() const { return bytes_; }

  // Moves what the kernel has written to memory of this program, unless too much is there already.
  // Any thread.
  void fetch();

  // The rest is for the one thread that reads.
  // Fetches what the kernel has written up to now.
  void look();
  // The oldest record that is left; null if there is none. Valid until pop().
  const perf_event_header* front() const { return front_; }
  void pop();

 private:
  void find_front();
  bool turn();

  int cpu_ = -1, descriptor_ = -1;
  char* memory_ = nullptr;  // the kernel's page, then the ring
  std::size_t bytes_ = 0, most_kept_ = 0;
  std::vector<char> reading_;
  std::size_t at_ = 0;  // bytes of reading_ that have been read
  const perf_event_header* front_ = nullptr;

  std::mutex guard_;  // of what follows
  std::vector<char> fetched_;
  std::uint64_t tail_ = 0;
};

using Rings = std::deque<Ring>;

// Fetches from each ring that is getting full, and then adds 1 to the eventfd `wake`. Returns
// never: it has a thread of its own.
[[noreturn]] void keep_emptying(Rings& rings, int wake);

}  // namespace gnomon::outside
