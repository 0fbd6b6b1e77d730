// Follows the CPU time of a process's threads, and tells what of it no tick of the clock stands
// for. In gnomon-sampler.
#include "libcollector/outside/cpu_rests.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>
#include <utility>

#include "libcollector/core/small_file.h"
#include "libcollector/core/time.h"
#include "libcollector/outside/process_facts.h"
#include "libcollector/record/process_identity.h"

namespace gnomon::outside {
namespace {

constexpr std::uint64_t kCost = 50;  // a look at all threads comes after so many times what it took

// The first two numbers of the file `schedstat`: ns on a CPU and ns of waiting for one (Linux,
// Documentation/scheduler/sched-stats.rst). 0: the thread is gone, or the kernel has no such file.
ThreadTimes times_in(const std::string& directory) {
  std::array<char, 128> text{};
  ThreadTimes times;
  times.at = collector::now(CLOCK_MONOTONIC);
  if (collector::read_small_file((directory + "/schedstat").c_str(), text.data(), text.size()) == 0)
    return times;
  char* behind = nullptr;
  times.cpu = std::strtoull(text.data(), &behind, 10);
  times.delay = std::strtoull(behind, nullptr, 10);
  return times;
}

// Returns the value of a growing figure at `time`, if the figure grew evenly.
std::uint64_t between(std::uint64_t before, std::uint64_t after, std::uint64_t time,
                      std::uint64_t begin, std::uint64_t end) {
  if (before == ThreadTimes::kUnknown || after <= before || end <= begin) return after;
  const double part = static_cast<double>(time - begin) / static_cast<double>(end - begin);
  return before + static_cast<std::uint64_t>(part * static_cast<double>(after - before));
}

// time: not before `before`.
ThreadTimes between(const ThreadTimes& before, const ThreadTimes& after, std::uint64_t time) {
  if (time >= after.at) return after;
  const auto figure = [&](std::uint64_t ThreadTimes::*of) {
    return between(before.*of, after.*of, time, before.at, after.at);
  };
  return {figure(&ThreadTimes::cpu), figure(&ThreadTimes::system), figure(&ThreadTimes::delay),
          time};
}

std::uint64_t system_time_in(const std::string& directory) {
  constexpr int kSystem = 15;  // proc_pid_stat(5)
  static const auto tick = 1'000'000'000 / static_cast<std::uint64_t>(sysconf(_SC_CLK_TCK));
  return collector::stat_field(directory.c_str(), kSystem) * tick;
}

}  // namespace

CpuRests::CpuRests(pid_t pid, std::uint64_t period, Calls calls)
    : pid_(pid), accounts_(period), calls_(std::move(calls)) {
  begin_ = times_in(directory_of(static_cast<std::uint32_t>(pid))).cpu;
}

std::string CpuRests::directory_of(std::uint32_t thread) const {
  return std::string("/proc/")
      .append(std::to_string(pid_))
      .append("/task/")
      .append(std::to_string(thread));
}

// The kernel's estimate is asked for where it decides.
ThreadTimes CpuRests::times_of(std::uint32_t thread) const {
  const std::string directory = directory_of(thread);
  ThreadTimes times = times_in(directory);
  if (accounts_.needs_system_time(thread, times.cpu)) times.system = system_time_in(directory);
  return times;
}

void CpuRests::tell_one(const Rest& rest, std::uint64_t time) {
  const bool is_in_kernel = rest.stack == 0 && rest.activity == format::Activity::system;
  for (const Rest& part : is_in_kernel ? calls_.split(rest) : std::vector<Rest>{rest})
    calls_.tell(part, time);
}

void CpuRests::tell_of(std::uint32_t thread, const ThreadTimes& times, std::uint64_t time,
                       bool is_all) {
  calls_.looked(thread, times, is_all);
  for (const Rest& rest : accounts_.look(thread, times, false)) tell_one(rest, time);
}

// start: see End.
void CpuRests::tell_last(std::uint32_t thread, std::uint64_t cpu, std::uint32_t start,
                         std::uint64_t time) {
  calls_.ends(thread, cpu, time);
  for (Rest rest : accounts_.look(thread, {cpu}, true)) {
    if (rest.stack == 0 && rest.activity == format::Activity::short_threads) rest.stack = start;
    tell_one(rest, time);
  }
}

CpuRests::Look CpuRests::look_at_all() const {
  Look look;
  look.at = collector::now(CLOCK_MONOTONIC);
  look.process = cpu_time_of(pid_);
  for (const pid_t thread : threads_of(pid_)) {
    const auto id = static_cast<std::uint32_t>(thread);
    const std::string directory = directory_of(id);
    ThreadTimes& times = look.threads[id] = times_in(directory);
    times.system = system_time_in(directory);
  }
  look.until = collector::now(CLOCK_MONOTONIC);
  return look;
}

void CpuRests::look_ahead() {
  const std::uint64_t begin = collector::now(CLOCK_MONOTONIC);
  if (begin < next_ahead_) return;
  ahead_before_ = std::exchange(ahead_, look_at_all());
  next_ahead_ = ahead_.until + kCost * (ahead_.until - begin);
  for (const auto& [thread, times] : ahead_.threads) calls_.begins(thread, times);
}

// This program may be held up within a look, which then shows what came after its beginning.
const CpuRests::Look* CpuRests::look_before(std::uint64_t time) const {
  for (const Look* const look : {&ahead_, &ahead_before_})
    if (look->at != 0 && look->until <= time) return look;
  return nullptr;
}

// A thread without an account ahead was made since: it had used nothing. A thread without an
// account now has ended: it had used what its account ahead says.
void CpuRests::take_back(Look& now, const Look& ahead, std::uint64_t since) {
  now.process = between(ahead.process, now.process, since, ahead.at, now.at);
  for (auto& [thread, times] : now.threads) {
    const auto then = ahead.threads.find(thread);
    times = then == ahead.threads.end() ? ThreadTimes{0, 0, 0, since}
                                        : between(then->second, times, since);
  }
  for (const auto& [thread, then] : ahead.threads)
    now.threads.try_emplace(thread, ThreadTimes{then.cpu, then.system, then.delay, since});
  now.at = since;
}

// A process may be gone after its CPU time was read.
void CpuRests::skip(std::uint64_t since) {
  looked_.clear();
  settled_.clear();
  Look look = look_at_all();
  const auto first = look.threads.find(static_cast<std::uint32_t>(pid_));
  has_skipped_ = look.process != 0 && first != look.threads.end() && first->second.cpu != 0;
  const Look* const ahead = look_before(since);
  if (has_skipped_ && ahead && since < look.at) take_back(look, *ahead, since);
  ahead_ = ahead_before_ = {};
  skipped_at_ = look.at;
  known_ = skipped_ = look.process;
  for (const auto& [thread, times] : look.threads) {
    accounts_.skip(thread, times);
    calls_.begins(thread, times);
    known_ -= std::min(known_, times.cpu);
  }
}

// As long as the process is there, its first thread is.
void CpuRests::on_exit(std::uint32_t thread, std::uint64_t time) {
  if (thread != static_cast<std::uint32_t>(pid_)) ended_.emplace(time, thread);
}

// A thread that events were opened on has inherited none, or has two sets of them.
void CpuRests::on_count(const ThreadCount& count, const ClockEvents& events) {
  counted_in_all_ += count.count;
  if (count.process == static_cast<std::uint32_t>(pid_) && !events.is_root(count.thread))
    counted_[count.thread] += count.count;
}

// Many threads take long: looking costs 2 % of a CPU at most. The process's time is asked for
// first: so it is rather too small, and no time is taken for hidden that is not.
void CpuRests::look(std::uint64_t now, bool is_due) {
  constexpr std::uint64_t kBetween = 100'000'000;  // ns
  if (!is_due && now < next_look_) return;
  looked_.clear();
  process_ = cpu_time_of(pid_);
  for (const pid_t thread : threads_of(pid_)) {
    const auto id = static_cast<std::uint32_t>(thread);
    if (const ThreadTimes times = times_of(id); times.cpu != 0) looked_[id] = times;
  }
  looked_at_ = collector::now(CLOCK_MONOTONIC);
  next_look_ = looked_at_ + std::max(kBetween, kCost * (looked_at_ - std::min(now, looked_at_)));
}

void CpuRests::tell(std::uint64_t time, bool is_all) {
  tell_hidden(time);
  for (const auto& [thread, times] : looked_) tell_of(thread, times, time, is_all);
  looked_.clear();
}

// While the kernel begins and ends a thread its events do not count. Of many short threads that is
// most of the time: what the process has used more than its threads, by their events and clocks. A
// process that ends while it is looked at shows no threads.
void CpuRests::tell_hidden(std::uint64_t time) {
  std::uint64_t used = known_;
  for (const auto& [thread, times] : looked_) used += times.cpu;
  if (!looked_.contains(static_cast<std::uint32_t>(pid_)) || process_ <= used || settled_.empty())
    return;
  const std::uint64_t each = (process_ - used) / settled_.size();
  for (Rest& ended : settled_) {
    ended.weight = each;
    calls_.tell(ended, time);
  }
  known_ += each * settled_.size();
  settled_.clear();
}

// told: by the thread itself, 0: nothing.
std::uint64_t CpuRests::cpu_at_end(std::uint32_t thread, std::uint64_t told) const {
  const auto counted = counted_.find(thread);
  return std::max({accounts_.seen(thread), told, counted == counted_.end() ? 0 : counted->second});
}

std::vector<std::uint32_t> CpuRests::settle(std::uint64_t before) {
  std::vector<std::uint32_t> threads;
  while (!ended_.empty() && ended_.begin()->first < before) {
    const auto [time, thread] = *ended_.begin();
    ended_.erase(ended_.begin());
    const bool is_left_out = left_out_.erase(thread) != 0;
    const End end = is_left_out ? End{} : calls_.end_of(thread);
    const std::uint64_t cpu = cpu_at_end(thread, end.cpu);
    if (is_left_out) {
      if (time > skipped_at_) known_ += cpu;
    } else if (time > skipped_at_) {
      const auto* const last = accounts_.last_tick(thread);
      settled_.push_back({thread, 0, format::ThreadState::system, end.start,
                          last ? format::Activity::system : format::Activity::short_threads,
                          last ? last->cpu : format::kNoCpu});
      known_ += cpu;
      tell_last(thread, cpu, end.start, time);
    } else {
      calls_.ends(thread, cpu, time);
    }
    accounts_.forget(thread);
    counted_.erase(thread);
    looked_.erase(thread);
    threads.push_back(thread);
  }
  return threads;
}

void CpuRests::end(std::uint64_t now, const Used& used) {
  const auto first = static_cast<std::uint32_t>(pid_);
  settle(~0ull);
  if (has_skipped_ && looked_.empty()) look(now, true);
  if (!has_skipped_) {
    looked_[first] = {used.by_all};  // it has ended before it was looked at
  } else if (looked_.empty()) {
    const std::uint64_t counted = used.by_first == 0 ? 0 : begin_ + used.by_first;
    looked_[first] = {std::max(cpu_at_end(first, calls_.end_of(first).cpu), counted)};
  }
  if (used.by_all != 0) process_ = std::max(process_, skipped_ + used.by_all);
  tell_hidden(now);
  for (const auto& [thread, times] : looked_) {
    if (times.at == 0) {
      tell_last(thread, times.cpu, 0, now);
      continue;
    }
    calls_.looked(thread, times, true);
    // Of a thread that runs the kernel brings schedstat up to date at each of its ticks. A thread
    // that has ended its recording has read its clock.
    tell_last(thread, std::max(times.cpu, calls_.end_of(thread).cpu), 0, times.at);
  }
  looked_.clear();
}

}  // namespace gnomon::outside
