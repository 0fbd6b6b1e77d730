// What the threads of a process do off a CPU: when the kernel says that they left one and came
// back, and what its accounts say in sum. In gnomon-sampler.
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "libcollector/format/events.h"
#include "libcollector/outside/thread_accounts.h"
#include "libcollector/outside/wait_places.h"

namespace gnomon::outside {

// Time of a thread off a CPU: `weight` ns of the `length` ns up to `end` (CLOCK_MONOTONIC).
struct OffCpu {
  std::uint32_t thread = 0;
  format::ThreadState state = format::ThreadState::blocked;
  std::uint32_t stack = 0;  // 0: not known
  std::uint64_t end = 0, length = 0, weight = 0;
};

// The kernel's accounts of a thread say how long it was on a CPU and how long it waited for one;
// the rest of its life it was blocked, or stopped. Its switches say when, but not in sum: a thread
// that is woken waits for a CPU, which no record shows, and a switch takes a moment itself. So the
// accounts say how much there is of each state, and the switches what it is given to.
class ThreadStates {
 public:
  // reason_of: what a thread waits for that has left its CPU from that call stack.
  using ReasonOf = std::function<format::ThreadState(std::uint32_t stack)>;
  // call_of: the call in which the thread waited between two instants, as the thread itself has
  // told; nothing if it has told of none.
  using CallOf = std::function<std::optional<WaitPlace>(std::uint32_t thread, std::uint64_t begin,
                                                        std::uint64_t end)>;
  ThreadStates(ReasonOf reason_of, CallOf call_of)
      : reason_of_(std::move(reason_of)), call_of_(std::move(call_of)) {}

  // To be called where threads tell of their calls, which they do once a call is over: intervals
  // are then held back until the call that they belong to is known.
  void await_calls() { longest_ = kLongestCall; }
  // No record of switches comes any more. From now on only sums are told, from the accounts.
  void lose_switches();
  bool has_switches() const { return has_switches_; }

  // The recording of the thread begins, or goes on after a pause. is_on: whether the thread is on a
  // CPU; ignored if a record has told that already. place: where it waits, as far as that is known.
  void begin(std::uint32_t thread, const ThreadTimes& times, bool is_on,
             const WaitPlace& place = {});
  // A thread is made.
  void on_fork(std::uint32_t thread, std::uint64_t time);
  void on_exit(std::uint32_t thread, std::uint64_t time);
  void forget(std::uint32_t thread);
  void on_out(std::uint32_t thread, std::uint64_t time, bool is_preempted);
  void on_in(std::uint32_t thread, std::uint64_t time);
  // The thread is about to leave its CPU, from that call stack.
  void on_place(std::uint32_t thread, std::uint64_t time, std::uint32_t stack);
  // All threads are held by a debugger, or stopped by a signal.
  void mark_stopped();

  // Threads on a CPU as of the last record; 0: not known.
  std::uint32_t running() const { return has_switches_ ? running_ : 0; }

  // Returns what the thread did off a CPU, up to times.at, that has not been told before. All
  // records up to then have to be known; later ones may be. Unless is_all, an interval that has not
  // ended is left for a later call.
  std::vector<OffCpu> tell(std::uint32_t thread, const ThreadTimes& times, bool is_all);
  // Returns the rest, and forgets the thread. cpu: all CPU time that it has used, ns. time: the end
  // of the recording, which counts if the thread has not ended before.
  std::vector<OffCpu> end(std::uint32_t thread, std::uint64_t cpu, std::uint64_t time);

 private:
  struct Interval {
    std::uint64_t begin = 0, end = 0;
    WaitPlace place;
    bool is_preempted = false;
    std::uint64_t length() const { return end - begin; }
  };
  struct Thread {
    std::uint64_t first = 0, since = 0;  // it is accounted for since then, and told since then
    std::uint64_t cpu = 0, delay = 0;    // of the accounts at `first`, ns
    std::uint64_t waited = 0, blocked = 0, stopped = 0;  // told since `first`, ns
    bool is_on = false, has_place = false;
    Interval off;            // if it is not on a CPU: since `begin`
    std::uint32_t next = 0;  // call stack of the switch to come
    std::vector<Interval> closed;
    WaitPlaces blocked_at, preempted_at;
    std::uint64_t exit = 0;  // 0: it lives
  };
  // How much of an interval of time went to what, ns.
  struct Sums {
    std::uint64_t preempted = 0, stopped = 0, blocked = 0, waits = 0;
  };
  struct Shares {
    std::uint64_t woken = 0, blocked = 0;  // waiting for a CPU once woken
  };
  Thread& at(std::uint32_t thread, std::uint64_t time);
  void set_on(Thread& thread, bool is_on);
  bool may_be_in_call(std::uint32_t number, const Thread& thread);
  void place(std::uint32_t number, Thread& thread, Interval& interval);
  std::vector<Interval> take_until(Thread& thread, std::uint64_t time);
  std::vector<OffCpu> tell_until(std::uint32_t number, Thread& thread, std::uint64_t time,
                                 const ThreadTimes& times);
  Shares shares_of(const Thread& thread, std::uint64_t time, const ThreadTimes& times,
                   const Sums& sums) const;

  ReasonOf reason_of_;
  CallOf call_of_;
  std::unordered_map<std::uint32_t, Thread> threads_;
  // What lasts is told so often at least, ns; longer with many threads.
  static constexpr std::uint64_t kLongest = 1'000'000'000, kLongestCall = 60'000'000'000;
  std::uint64_t longest_ = kLongest;
  std::uint32_t running_ = 0;
  bool has_switches_ = true;
};

}  // namespace gnomon::outside
