// What the threads of a process do off a CPU. In gnomon-sampler.
#include "libcollector/outside/thread_states.h"

#include <algorithm>

namespace gnomon::outside {
namespace {

using format::ThreadState;

// Shorter intervals are told together.
constexpr std::uint64_t kLong = 1'000'000;              // ns
constexpr std::uint64_t kLongestByThread = 10'000'000;  // ns
// An interval for which the thread has told no call yet waits so long to be told.
constexpr std::uint64_t kLongestUnknown = 2'000'000'000;  // ns

std::int64_t difference(std::uint64_t a, std::uint64_t b) {
  return static_cast<std::int64_t>(a - b);
}

std::uint64_t within(std::int64_t value, std::uint64_t least, std::uint64_t most) {
  if (value < static_cast<std::int64_t>(least)) return least;
  return std::min(static_cast<std::uint64_t>(value), std::max(least, most));
}

std::uint64_t part_of(std::uint64_t whole, std::uint64_t part, std::uint64_t of) {
  if (of == 0) return 0;
  return static_cast<std::uint64_t>(static_cast<double>(whole) * static_cast<double>(part) /
                                    static_cast<double>(of));
}

}  // namespace

// Makes an entry for a thread whose beginning no record has told.
ThreadStates::Thread& ThreadStates::at(std::uint32_t thread, std::uint64_t time) {
  const auto [at, is_new] = threads_.try_emplace(thread);
  if (is_new) at->second.first = at->second.since = at->second.off.begin = time;
  return at->second;
}

void ThreadStates::set_on(Thread& thread, bool is_on) {
  if (thread.is_on == is_on) return;
  thread.is_on = is_on;
  is_on ? ++running_ : --running_;
}

void ThreadStates::lose_switches() {
  has_switches_ = false;
  for (auto& [number, thread] : threads_) thread.closed.clear();
}

void ThreadStates::begin(std::uint32_t number, const ThreadTimes& times, bool is_on,
                         const WaitPlace& place) {
  const bool is_known = threads_.contains(number);
  Thread& thread = at(number, times.at);
  thread.first = thread.since = times.at;
  thread.cpu = times.cpu;
  thread.delay = times.delay;
  thread.waited = thread.blocked = thread.stopped = 0;
  thread.closed.clear();
  thread.exit = 0;
  if (!is_known) set_on(thread, is_on);
  thread.off.begin = std::max(thread.off.begin, times.at);
  if (!thread.is_on && thread.off.place.stack == 0) thread.off.place = place;
}

// A new thread waits for a CPU until its first record says that it has got one.
void ThreadStates::on_fork(std::uint32_t number, std::uint64_t time) {
  forget(number);
  at(number, time).off.is_preempted = true;
}

void ThreadStates::forget(std::uint32_t number) {
  const auto known = threads_.find(number);
  if (known == threads_.end()) return;
  set_on(known->second, false);
  threads_.erase(known);
}

void ThreadStates::on_exit(std::uint32_t number, std::uint64_t time) {
  Thread& thread = at(number, time);
  if (!thread.is_on) on_in(number, time);
  set_on(thread, false);
  thread.exit = time;
}

void ThreadStates::on_place(std::uint32_t number, std::uint64_t time, std::uint32_t stack) {
  Thread& thread = at(number, time);
  thread.next = stack;
  thread.has_place = true;
}

// Two sets of events may tell the same switch.
void ThreadStates::on_out(std::uint32_t number, std::uint64_t time, bool is_preempted) {
  Thread& thread = at(number, time);
  if (thread.exit != 0) return;
  if (thread.is_on || thread.has_place)
    thread.off = {time, 0, {thread.has_place ? thread.next : 0}, is_preempted};
  thread.has_place = false;
  set_on(thread, false);
}

void ThreadStates::on_in(std::uint32_t number, std::uint64_t time) {
  Thread& thread = at(number, time);
  thread.has_place = false;
  if (thread.is_on || thread.exit != 0) return;
  set_on(thread, true);
  thread.off.end = std::max(time, thread.off.begin);
  if (has_switches_ && thread.off.length() != 0) thread.closed.push_back(thread.off);
}

void ThreadStates::mark_stopped() {
  for (auto& [number, thread] : threads_)
    if (!thread.is_on) thread.off.place.state = ThreadState::stopped;
}

void ThreadStates::place(std::uint32_t number, Thread& thread, Interval& interval) {
  WaitPlaces& places = interval.is_preempted ? thread.preempted_at : thread.blocked_at;
  if (interval.place.state == ThreadState::blocked && interval.place.stack != 0)
    interval.place.state = reason_of_(interval.place.stack);
  if (interval.place.state == ThreadState::stopped) return;
  if (interval.place.stack == 0 && !interval.is_preempted)
    if (const auto called = call_of_(number, interval.begin, interval.end)) {
      interval.place = *called;
      return;
    }
  if (interval.place.stack != 0)
    places.add(interval.place, interval.length());
  else if (const auto chosen = places.choose(interval.length()))
    interval.place = *chosen;
}

// Takes the intervals up to that time. Of an interval that goes on beyond it the rest stays.
std::vector<ThreadStates::Interval> ThreadStates::take_until(Thread& thread, std::uint64_t time) {
  std::vector<Interval> taken, left;
  const auto take = [&](Interval& interval) {
    if (interval.begin >= time) return false;
    taken.push_back(interval);
    taken.back().end = std::min(interval.end, time);
    interval.begin = time;
    return true;
  };
  for (Interval& interval : thread.closed)
    if (!take(interval) || interval.begin < interval.end) left.push_back(interval);
  thread.closed = std::move(left);
  if (has_switches_ && !thread.is_on && thread.exit == 0) {
    thread.off.end = time;
    take(thread.off);
  }
  return taken;
}

// The accounts are late: the kernel adds to the CPU time of a running thread at its ticks, up to
// 10 ms apart, and to the waiting time of a thread once the thread has got its CPU. What is missing
// at one look is told at a later one, because each look tells the difference between the accounts
// since `first` and what has been told since then.
ThreadStates::Shares ThreadStates::shares_of(const Thread& thread, std::uint64_t time,
                                             const ThreadTimes& times, const Sums& sums) const {
  const std::uint64_t cpu = times.cpu - std::min(times.cpu, thread.cpu);
  const std::uint64_t most = has_switches_ ? sums.blocked : time - thread.since;
  Shares shares;
  if (times.delay != ThreadTimes::kUnknown)
    shares.woken =
        within(difference(times.delay, thread.delay + thread.waited + sums.preempted), 0, most);
  const std::uint64_t accounted = cpu + thread.waited + sums.preempted + shares.woken +
                                  thread.stopped + sums.stopped + thread.blocked;
  shares.blocked = within(difference(time - thread.first, accounted), 0, most - shares.woken);
  return shares;
}

std::vector<OffCpu> ThreadStates::tell_until(std::uint32_t number, Thread& thread,
                                             std::uint64_t time, const ThreadTimes& times) {
  std::vector<OffCpu> told;
  if (time <= thread.since) return told;
  std::vector<Interval> intervals = take_until(thread, time);
  Sums sums;
  for (Interval& each : intervals) {
    place(number, thread, each);
    const bool is_stopped = each.place.state == ThreadState::stopped;
    (is_stopped          ? sums.stopped
     : each.is_preempted ? sums.preempted
                         : sums.blocked) += each.length();
    if (!is_stopped && !each.is_preempted) ++sums.waits;
  }
  const Shares shares = shares_of(thread, time, times, sums);
  std::map<std::pair<ThreadState, std::uint32_t>, std::uint64_t> together;
  const auto add = [&](const Interval& interval, ThreadState state, std::uint64_t weight) {
    if (weight != 0 && interval.length() >= kLong)
      told.push_back(
          {number, state, interval.place.stack, interval.end, interval.length(), weight});
    else
      together[{state, interval.place.stack}] += weight;
  };
  for (const Interval& each : intervals) {
    if (each.place.state == ThreadState::stopped) {
      add(each, ThreadState::stopped, each.length());
    } else if (each.is_preempted) {
      add(each, ThreadState::wait_cpu, each.length());
    } else {
      add(each, each.place.state, part_of(shares.blocked, each.length(), sums.blocked));
      together[{ThreadState::wait_cpu, each.place.stack}] += part_of(shares.woken, 1, sums.waits);
    }
  }
  if (!has_switches_) {
    together[{ThreadState::wait_cpu, 0}] += shares.woken;
    together[{ThreadState::blocked, 0}] += shares.blocked;
  }
  for (const auto& [what, weight] : together)
    if (weight != 0)
      told.push_back({number, what.first, what.second, time, time - thread.since, weight});
  thread.waited += sums.preempted + shares.woken;
  thread.blocked += shares.blocked;
  thread.stopped += sums.stopped;
  thread.since = time;
  return told;
}

// A call is told once it is over; the thread may have been woken in it, and have waited on.
bool ThreadStates::may_be_in_call(std::uint32_t number, const Thread& thread) {
  return longest_ == kLongestCall &&
         std::any_of(thread.closed.begin(), thread.closed.end(), [&](const Interval& each) {
           return !each.is_preempted && each.place.stack == 0 && each.length() >= kLong &&
                  !call_of_(number, each.begin, each.end);
         });
}

// While a thread is off a CPU, the kernel does not change its accounts: what they say now holds for
// the moment at which the thread left its CPU, too.
std::vector<OffCpu> ThreadStates::tell(std::uint32_t number, const ThreadTimes& times,
                                       bool is_all) {
  const auto found = threads_.find(number);
  if (found == threads_.end() || found->second.exit != 0) return {};
  Thread& thread = found->second;
  std::uint64_t time = times.at;
  if (!is_all && time - std::min(time, thread.since) < kLongestUnknown &&
      may_be_in_call(number, thread))
    return {};
  const bool lasts = has_switches_ && !thread.is_on && thread.off.begin < time;
  const std::uint64_t longest = longest_ + threads_.size() * kLongestByThread;
  if (lasts && !is_all && time - std::min(time, thread.since) < longest) time = thread.off.begin;
  return tell_until(number, thread, time, times);
}

std::vector<OffCpu> ThreadStates::end(std::uint32_t number, std::uint64_t cpu, std::uint64_t time) {
  const auto found = threads_.find(number);
  if (found == threads_.end()) return {};
  Thread& thread = found->second;
  ThreadTimes times{cpu};
  if (thread.exit != 0) time = thread.exit;
  std::vector<OffCpu> told = tell_until(number, thread, time, times);
  set_on(thread, false);
  threads_.erase(found);
  return told;
}

}  // namespace gnomon::outside
