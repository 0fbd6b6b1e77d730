// The kernel's ring buffer of one CPU, into which events of other processes write. In
// gnomon-sampler.
#pragma once
#include <linux/perf_event.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>

namespace gnomon::outside {

// perf_event_open(2). Returns a descriptor, or -errno.
int open_event(const perf_event_attr& attributes, int pid, int cpu);

// An event whose read_format has this bit tells how many of its samples were lost (Linux 6.0).
inline constexpr std::uint64_t kFormatLost = 1 << 4;  // PERF_FORMAT_LOST

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

  // Maps a ring of `bytes`, a power of two of pages. At most `most_kept` bytes are kept besides, or
  // 2 x `bytes` if that is more. Returns 0 or errno; EPERM, ENOMEM: a smaller one may be possible.
  int open(int cpu, std::size_t bytes, std::size_t most_kept);

  int cpu() const { return cpu_; }
  int descriptor() const { return descriptor_; }
  std::size_t bytes() const { return bytes_; }

  // Moves what the kernel has written to memory of this program, if there is room. Any thread.
  void fetch();

  // The rest is for the one thread that reads.
  // Fetches what the kernel has written up to now.
  void look();
  // The oldest record that is left; null if there is none. Valid until pop() or look().
  const perf_event_header* front() const { return front_; }
  void pop();

 private:
  void move_in();
  void make_room();
  void find_front();

  int cpu_ = -1, descriptor_ = -1;
  char* memory_ = nullptr;  // the kernel's page, then the ring
  std::size_t bytes_ = 0;
  const perf_event_header* front_ = nullptr;

  // Reserved at once and never by malloc: the thread that fetches must not wait for a change of
  // this program's mappings, which may wait for a page fault, which may wait for a disk.
  char* kept_ = nullptr;
  std::size_t room_ = 0;                // bytes of kept_
  std::mutex guard_;                    // of what follows
  std::size_t read_ = 0, written_ = 0;  // up to here in kept_
  std::size_t touched_ = 0;             // up to here kept_ may use memory
  std::uint64_t tail_ = 0;              // of the kernel's ring: up to here it has been fetched
};

using Rings = std::deque<Ring>;

// One ring a CPU, all of the same size: the largest that the kernel allows. Returns 0 or errno.
int open_rings(Rings& rings);

// Fetches from each ring that is getting full, and then adds 1 to the eventfd `wake`. Returns
// never: it has a thread of its own.
[[noreturn]] void keep_emptying(Rings& rings, int wake);

}  // namespace gnomon::outside
