// CPU time of threads that no tick of their clock stands for. In gnomon-sampler.
#pragma once
#include <algorithm>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "libcollector/format/events.h"
#include "libcollector/format/stacks.h"

namespace gnomon::outside {

// What the kernel tells of a thread, ns since it began.
struct ThreadTimes {
  static constexpr std::uint64_t kUnknown = ~std::uint64_t{0};
  std::uint64_t cpu = 0;            // of a running thread as of the last tick
  std::uint64_t system = kUnknown;  // of that, in the kernel, as far as the kernel has looked
  std::uint64_t delay = kUnknown;   // it waited for a CPU
  std::uint64_t at = 0;             // when the kernel was asked, CLOCK_MONOTONIC, ns
};

// CPU time without a tick.
struct Rest {
  std::uint32_t thread = 0;
  std::uint64_t weight = 0;  // ns
  format::ThreadState state = format::ThreadState::unknown;
  std::uint32_t stack = 0;  // of the thread's last tick; 0: nothing tells where, see `activity`
  format::Activity activity = format::Activity::system;
  std::uint16_t cpu = format::kNoCpu;
  std::uint16_t parallelism = 0;  // see format::ClockSample
};

// The clock drops ticks in the kernel if it may not show that; it comes late where the whole
// machine is held up; it does not tick in a thread that lives for less than its period, nor for
// what is left of one. What the thread's CPU time is more than its ticks stand for is told here:
// without a view of the kernel as time in the kernel, as far as the kernel's own estimate of that
// allows, which rests on ticks too; the remainder as time of the last tick's call stack, or of a
// place that is not known if that tick was long ago.
class ThreadAccounts {
 public:
  explicit ThreadAccounts(std::uint64_t period) : period_(period), least_system_(period) {}

  // The clock ticks in the kernel as well. To be called before the first tick.
  void see_kernel() { sees_kernel_ = true; }
  // Time in the kernel is told only once there is so much of it, ns: what tells where it was spent
  // comes seldom.
  void hold_system(std::uint64_t least) { least_system_ = std::max(least, period_); }
  // Up to now the time of the thread is not to be told.
  void skip(std::uint32_t thread, const ThreadTimes& times);
  struct Tick {
    std::uint64_t weight;  // ns
    std::uint32_t stack;
    format::ThreadState state;
    std::uint16_t cpu;
    std::uint16_t parallelism = 0;
    std::uint64_t time = 0;  // CLOCK_MONOTONIC, ns
  };
  void add(std::uint32_t thread, const Tick& tick);
  // What the thread's next tick stands for, ns: a period, or less if the ticks up to the last look
  // stand for more than it had used. (Where one thread of a process follows another on a CPU, the
  // kernel lets the second go on with the events of the first: so a tick may come in the wrong one
  // of them.)
  std::uint64_t next_weight(std::uint32_t thread) const;
  // Returns true if the thread's time in the kernel decides what a look at it tells.
  bool needs_system_time(std::uint32_t thread, std::uint64_t cpu) const;
  // Tells what is certain to have no tick. is_last: the thread ends, so all of it.
  std::vector<Rest> look(std::uint32_t thread, const ThreadTimes& times, bool is_last);
  // Returns null if the thread has had no tick.
  const Tick* last_tick(std::uint32_t thread) const;
  // The CPU time of the thread that is known of, ns.
  std::uint64_t seen(std::uint32_t thread) const;
  void forget(std::uint32_t thread) { accounts_.erase(thread); }

 private:
  struct Account {
    ThreadTimes skipped{0, 0}, seen{0, 0};
    std::int64_t told = 0;          // ns since `skipped`, by ticks and rests
    std::uint64_t told_system = 0;  // of rests
    std::uint64_t cpus = 0;         // bits, of those that it has ticked on
    Tick last{};
    bool has_ticked_since = false;  // the last look
    std::uint64_t excess = 0;       // ns that ticks stood for too much at the last look
  };
  std::uint64_t untold(const Account& account, std::uint64_t cpu) const;
  static std::uint64_t excess_of(const Account& account, const ThreadTimes& times);
  std::uint64_t undecided(const Account& account) const;
  std::uint64_t system_part(const Account& account, const ThreadTimes& times, std::uint64_t rest,
                            bool is_last) const;

  std::uint64_t late_part(const Account& account, std::uint64_t rest, bool is_last) const;
  void add_late(std::uint32_t thread, const Account& account, std::uint64_t late, bool is_last,
                std::vector<Rest>& rests) const;

  std::uint64_t period_;        // ns
  std::uint64_t least_system_;  // ns
  bool sees_kernel_ = false;
  std::unordered_map<std::uint32_t, Account> accounts_;
};

}  // namespace gnomon::outside
