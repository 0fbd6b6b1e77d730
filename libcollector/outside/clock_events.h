// The events that sample another process: of each of its threads and each CPU one, inherited by
// what these make; where they do not see the kernel, also one of page faults. In gnomon-sampler.
#pragma once
#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <unordered_set>
#include <vector>

#include "libcollector/outside/coverage.h"
#include "libcollector/outside/record.h"
#include "libcollector/outside/ring.h"

namespace gnomon::outside {

class ClockEvents {
 public:
  struct Wanted {
    pid_t pid;
    std::uint64_t period;       // ns of CPU time; 0: no samples are taken
    std::uint32_t stack_bytes;  // copied with each sample
    // Of each thread that has inherited events, how much they have counted is told at its end. That
    // costs half a microsecond a switch between threads of the process.
    bool tells_counts = false;
  };
  // Page faults that each sample of one stands for.
  static constexpr std::uint64_t kFaults = 997;
  // now: they sample at once. idle: from enable() on. at_exec: once the process executes a program.
  enum class Begin { now, idle, at_exec };

  ClockEvents() = default;
  ~ClockEvents() { close(); }
  ClockEvents(ClockEvents&&) = delete;

  // Opens events on the threads of the process that write into the rings of their CPUs: samples,
  // new mappings, what becomes of threads, and how much CPU time those have used that have
  // inherited events. Returns 0, or errno with nothing open; EMFILE: the threads need more
  // descriptors than this program may have.
  int open(const Wanted& wanted, Begin begin, const Rings& rings);
  void enable() const;
  void disable() const;
  void close();

  // Takes notice of a sample. Returns false if it counts a thread's time a second time, and closes
  // the events that do so (see Coverage).
  bool counts(const Origin& sample);
  void on_thread_end(std::uint32_t thread) { coverage_.on_thread_end(thread); }
  // Returns true if the sample is of a page fault, not of the clock.
  bool is_fault(const Origin& sample) const { return fault_ids_.contains(sample.event); }
  // Those of the others may still be in the rings.
  void know_faults_of(const ClockEvents& others) {
    fault_ids_.insert(others.fault_ids_.begin(), others.fault_ids_.end());
  }

  // Returns true if time in the kernel is sampled: else only the user's.
  bool sees_kernel() const { return sees_kernel_; }
  // Returns true if the kernel tells how many of its records were lost, by event (Linux 6.0).
  bool tells_lost() const { return tells_lost_; }
  // How many records the kernel could not write; 0 if it does not tell.
  std::uint64_t lost() const;
  // The CPU time, ns, of the threads and of all that they have made, while the events were open.
  // 0: not known.
  std::uint64_t cpu_time() const;
  // The CPU time, ns, of the one thread that the events were opened on, when those that have
  // inherited them have all ended and used `of_heirs`. 0: not known.
  std::uint64_t time_of_only_root(std::uint64_t of_heirs) const;
  // Returns true if events were opened on the thread.
  bool is_root(std::uint32_t thread) const { return seen_.contains(static_cast<pid_t>(thread)); }

 private:
  struct Event {
    int file;
    std::uint64_t id;
  };
  struct Figures {
    std::uint64_t count = 0, lost = 0;
  };
  int open_threads(const std::vector<pid_t>& threads, const Rings& rings, bool& is_new);
  int open_one(pid_t thread, const Ring& ring, Event& event);
  void keep_counts_apart(pid_t thread);
  void open_for_faults(pid_t thread, const Ring& ring, std::size_t root);
  template <typename Do>
  void each(Do each_event) const;
  std::uint64_t sum(std::uint64_t Figures::*figure) const;

  Wanted wanted_{};
  Begin begin_ = Begin::now;
  std::vector<std::vector<Event>> events_;  // by the roots of the coverage
  std::vector<std::vector<Event>> faults_;  // likewise
  std::unordered_set<std::uint64_t> fault_ids_;
  std::unordered_set<pid_t> seen_;
  Coverage coverage_;
  bool sees_kernel_ = true, tells_lost_ = true;
};

}  // namespace gnomon::outside
