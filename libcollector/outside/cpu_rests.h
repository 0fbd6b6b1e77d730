// Follows the CPU time of a process's threads, and tells what of it no tick of the clock stands
// for. In gnomon-sampler.
#pragma once
#include <linux/perf_event.h>
#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "libcollector/outside/clock_events.h"
#include "libcollector/outside/thread_accounts.h"

namespace gnomon::outside {

class CpuRests {
 public:
  // What a thread has left behind that has ended.
  struct End {
    std::uint64_t cpu = 0;    // what it had used before, ns; 0: not known
    std::uint32_t start = 0;  // call stack of its start routine; 0: likewise
  };
  struct Calls {
    // Takes a rest, and when it was known: CLOCK_MONOTONIC, ns.
    std::function<void(const Rest&, std::uint64_t time)> tell;
    std::function<End(std::uint32_t thread)> end_of;
    // Says where a rest was spent of which is known that it was in the kernel.
    std::function<std::vector<Rest>(const Rest&)> split;
    // The three take what the kernel's accounts say of a thread. begins: the thread is recorded
    // from then on; a later call replaces an earlier one. looked: the accounts were looked at;
    // is_all as in tell(). ends: the thread has ended, or the recording has; cpu: all CPU time that
    // the thread has used, ns.
    std::function<void(std::uint32_t thread, const ThreadTimes&)> begins;
    std::function<void(std::uint32_t thread, const ThreadTimes&, bool is_all)> looked;
    std::function<void(std::uint32_t thread, std::uint64_t cpu, std::uint64_t time)> ends;
  };
  // To be made when the clock begins.
  CpuRests(pid_t pid, std::uint64_t period, Calls calls);
  // See ThreadAccounts.
  void see_kernel() { accounts_.see_kernel(); }
  void hold_system(std::uint64_t least) { accounts_.hold_system(least); }

  // Before the recording: notes what the threads have used. At most 2 % of a CPU goes into that.
  void look_ahead();
  // Nothing that the threads had used at `since` is to be told: CLOCK_MONOTONIC, ns, not after now.
  // What they had used then is taken to lie evenly between look_ahead() and now; without
  // look_ahead() it is what they have used by now.
  void skip(std::uint64_t since);
  // A tick up to that `since` counts for itself: it is no part of what is told later.
  void add(std::uint32_t thread, const ThreadAccounts::Tick& tick) {
    if (tick.time > skipped_at_) accounts_.add(thread, tick);
  }
  std::uint64_t next_weight(std::uint32_t thread) const { return accounts_.next_weight(thread); }
  // PERF_RECORD_EXIT of one of the process's threads, and PERF_RECORD_READ.
  void on_exit(std::uint32_t thread, std::uint64_t time);
  void on_count(const ThreadCount& count, const ClockEvents& events);
  // Nothing is told of what the thread has used. To be called before on_exit().
  void leave_out(std::uint32_t thread) { left_out_.insert(thread); }

  // Looks at the threads, if it is time to or `is_due`.
  void look(std::uint64_t now, bool is_due);
  bool has_looked() const { return !looked_.empty(); }
  // Tells what was seen then: time, CLOCK_MONOTONIC, ns. Before that all ticks up to then are to be
  // added, and the threads settled that ended before, as can_tell() says. is_all: nothing is left
  // for the next time that can be told now.
  void tell(std::uint64_t time, bool is_all);
  bool can_tell(std::uint64_t settled) const { return has_looked() && looked_at_ <= settled; }
  // Tells the rests of threads that ended before that time. Returns those threads.
  std::vector<std::uint32_t> settle(std::uint64_t before);
  // Of a process that is gone, ns, 0: not known.
  struct Used {
    std::uint64_t by_first = 0;  // thread, since the clock began
    std::uint64_t by_all = 0;    // since skip()
  };
  // Tells the rests of all threads.
  void end(std::uint64_t now, const Used& used);
  // What ended threads have counted, of other processes too, ns.
  std::uint64_t counted() const { return counted_in_all_; }

 private:
  // All threads at one time.
  struct Look {
    std::uint64_t at = 0;       // CLOCK_MONOTONIC, ns, before anything was read; 0: there was none
    std::uint64_t until = 0;    // likewise, when all was read
    std::uint64_t process = 0;  // CPU time, ns
    std::unordered_map<std::uint32_t, ThreadTimes> threads;
  };
  Look look_at_all() const;
  const Look* look_before(std::uint64_t time) const;
  static void take_back(Look& now, const Look& ahead, std::uint64_t since);
  std::string directory_of(std::uint32_t thread) const;
  ThreadTimes times_of(std::uint32_t thread) const;
  std::uint64_t cpu_at_end(std::uint32_t thread, std::uint64_t told) const;
  void tell_one(const Rest& rest, std::uint64_t time);
  void tell_of(std::uint32_t thread, const ThreadTimes& times, std::uint64_t time, bool is_all);
  void tell_last(std::uint32_t thread, std::uint64_t cpu, std::uint32_t start, std::uint64_t time);
  void tell_hidden(std::uint64_t time);

  pid_t pid_;
  ThreadAccounts accounts_;
  Calls calls_;
  std::unordered_map<std::uint32_t, std::uint64_t> counted_;  // ns, of threads that end
  std::uint64_t counted_in_all_ = 0;
  std::multimap<std::uint64_t, std::uint32_t> ended_;  // threads, by time
  std::unordered_set<std::uint32_t> left_out_;         // of them
  std::uint64_t begin_ = 0;       // what the first thread had used when the clock began, ns
  Look ahead_, ahead_before_;     // the last look ahead, and the one before
  std::uint64_t next_ahead_ = 0;  // CLOCK_MONOTONIC, ns

  // What was seen last, and is not told yet.
  std::unordered_map<std::uint32_t, ThreadTimes> looked_;
  std::uint64_t looked_at_ = 0, next_look_ = 0;  // CLOCK_MONOTONIC, ns
  std::uint64_t process_ = 0;                    // CPU time of all threads, ns; 0: not known

  // Settled since the last look that told what is hidden.
  std::vector<Rest> settled_;  // threads, each with where its end took place
  std::uint64_t known_ = 0;    // ns: of ended threads, and of hidden time what was told or skipped
  std::uint64_t skipped_at_ = 0;  // `since` of the last skip()
  std::uint64_t skipped_ = 0;     // ns, by all threads
  bool has_skipped_ = false;
};

}  // namespace gnomon::outside
