// The events that count something in another process and sample it: of each thread and each CPU
// one, inherited by the threads that these make. In gnomon-sampler.
#pragma once
#include <linux/perf_event.h>
#include <sys/types.h>

#include <cstdint>
#include <unordered_set>
#include <vector>

#include "libcollector/outside/coverage.h"
#include "libcollector/outside/record.h"
#include "libcollector/outside/ring.h"

namespace gnomon::outside {

class CounterEvents {
 public:
  CounterEvents() = default;
  ~CounterEvents() { close(); }
  CounterEvents(CounterEvents&&) = delete;

  // Opens events on the threads of the process that write into the rings of their CPUs. attributes:
  // what is counted and how often it is sampled; the kernel's part is left out if the kernel
  // refuses it. Returns 0, or errno with nothing open; EMFILE: the threads need more descriptors
  // than this program may have.
  int open(pid_t pid, const perf_event_attr& attributes, const Rings& rings);
  void close();
  bool is_open() const { return !roots_.empty(); }

  // Returns true if the record is of such an event; also of events that have been closed since.
  bool wrote(const Origin& record) const { return ids_.contains(record.event); }
  // Takes notice of a sample. Returns false if it is another event's as well (see Coverage), whose
  // events are closed then.
  bool counts(const Origin& sample);
  void on_thread_end(std::uint32_t thread) { coverage_.on_thread_end(thread); }

  // running: ns in which threads ran and the event had a counter of the processor; enabled: what
  // the kernel calls so. lost: samples for which a ring had no
  // room; 0 if the kernel does not tell (Linux 6.0).
  struct Figures {
    std::uint64_t count = 0, enabled = 0, running = 0, lost = 0;
  };
  Figures figures() const;
  // Returns true if what happens in the kernel is counted, too.
  bool sees_kernel() const { return attributes_.exclude_kernel == 0; }

 private:
  int open_threads(pid_t pid, const Rings& rings, bool& is_new);
  int open_one(pid_t thread, const Ring& ring);
  bool leave_out(int error);

  perf_event_attr attributes_{};
  std::vector<std::vector<int>> roots_;  // descriptors, by the roots of the coverage
  std::unordered_set<std::uint64_t> ids_;
  std::unordered_set<pid_t> seen_;
  Coverage coverage_;
};

}  // namespace gnomon::outside
