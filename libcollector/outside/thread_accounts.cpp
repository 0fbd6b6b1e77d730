// CPU time of threads that no tick of their clock stands for. In gnomon-sampler.
#include "libcollector/outside/thread_accounts.h"

#include <algorithm>
#include <bit>

namespace gnomon::outside {
namespace {

using format::Activity;
using format::ThreadState;

// The kernel looks what a thread does at its own ticks, 1 to 10 ms apart, and tells it in units of
// 10 ms.
constexpr std::uint64_t most_system(std::uint64_t estimate) {
  constexpr std::uint64_t kUnits = 20'000'000;  // ns
  return estimate + estimate / 4 + kUnits;
}

}  // namespace

void ThreadAccounts::skip(std::uint32_t thread, const ThreadTimes& times) {
  Account& account = accounts_[thread];
  account.skipped = account.seen = times;
  account.told = 0;
  account.told_system = 0;
}

void ThreadAccounts::add(std::uint32_t thread, const Tick& tick) {
  Account& account = accounts_[thread];
  account.told += static_cast<std::int64_t>(tick.weight);
  account.cpus |= std::uint64_t{1} << (tick.cpu % 64);
  account.excess -= std::min(account.excess, period_ - std::min(period_, tick.weight));
  account.last = tick;
  account.has_ticked_since = true;
}

std::uint64_t ThreadAccounts::next_weight(std::uint32_t thread) const {
  constexpr std::uint64_t kLeastPart = 4;  // of a period
  const auto at = accounts_.find(thread);
  const std::uint64_t excess = at == accounts_.end() ? 0 : at->second.excess;
  return period_ - std::min(excess, period_ - period_ / kLeastPart);
}

std::uint64_t ThreadAccounts::seen(std::uint32_t thread) const {
  const auto at = accounts_.find(thread);
  if (at == accounts_.end()) return 0;
  const Account& account = at->second;
  return std::max(account.seen.cpu, account.skipped.cpu + static_cast<std::uint64_t>(account.told));
}

const ThreadAccounts::Tick* ThreadAccounts::last_tick(std::uint32_t thread) const {
  const auto at = accounts_.find(thread);
  return at == accounts_.end() || at->second.cpus == 0 ? nullptr : &at->second.last;
}

// The kernel adds to the CPU time of a running thread at its own ticks only, so the accounts may
// lack the time since the last one; and ticks of the thread may have been added that came after the
// look.
std::uint64_t ThreadAccounts::excess_of(const Account& account, const ThreadTimes& times) {
  constexpr std::uint64_t kLag = 4'000'000;  // ns
  const std::uint64_t later = account.last.time - std::min(account.last.time, times.at);
  const std::uint64_t most =
      times.cpu - std::min(times.cpu, account.skipped.cpu) + kLag + (times.at == 0 ? 0 : later);
  return static_cast<std::uint64_t>(
      std::max<std::int64_t>(account.told - static_cast<std::int64_t>(most), 0));
}

// The first tick after `skipped` may stand for time before it as well.
std::uint64_t ThreadAccounts::untold(const Account& account, std::uint64_t cpu) const {
  const auto used = static_cast<std::int64_t>(cpu - std::min(cpu, account.skipped.cpu));
  return static_cast<std::uint64_t>(std::max<std::int64_t>(used - account.told, 0));
}

// On each CPU the thread has an event of its own, which ticks after whole periods there.
std::uint64_t ThreadAccounts::undecided(const Account& account) const {
  return period_ * static_cast<std::uint64_t>(std::max(std::popcount(account.cpus), 1));
}

bool ThreadAccounts::needs_system_time(std::uint32_t thread, std::uint64_t cpu) const {
  if (sees_kernel_) return false;
  const auto at = accounts_.find(thread);
  return at != accounts_.end() && at->second.cpus != 0 &&
         untold(at->second, cpu) > undecided(at->second);
}

// A thread that has ticked has spent the last part of a period like the parts before. A thread that
// has not, though it has used more than a period, was in the kernel.
std::uint64_t ThreadAccounts::system_part(const Account& account, const ThreadTimes& times,
                                          std::uint64_t rest, bool is_last) const {
  if (sees_kernel_) return 0;
  const bool has_ticked = account.cpus != 0;
  const std::uint64_t keep =
      is_last && !has_ticked && rest > period_ ? 0 : std::min(undecided(account), rest);
  std::uint64_t system = rest - keep;
  if (has_ticked && times.system != ThreadTimes::kUnknown) {
    const std::uint64_t most =
        most_system(times.system - std::min(times.system, account.skipped.system));
    system = std::min(system, most - std::min(most, account.told_system));
  }
  return is_last || system >= least_system_ ? system : 0;
}

std::uint64_t ThreadAccounts::late_part(const Account& account, std::uint64_t rest,
                                        bool is_last) const {
  if (is_last) return rest;
  const std::uint64_t keep = undecided(account);
  return account.cpus != 0 && rest > keep + period_ ? rest - keep : 0;
}

// A tick from before the last look says no more where the thread has been since, but for the part
// of a period that it has begun.
void ThreadAccounts::add_late(std::uint32_t thread, const Account& account, std::uint64_t late,
                              bool is_last, std::vector<Rest>& rests) const {
  if (account.cpus == 0) {
    if (late != 0) rests.push_back({thread, late, ThreadState::user, 0, Activity::short_threads});
    return;
  }
  std::uint64_t there = account.has_ticked_since ? late : 0;
  if (is_last) there = std::max(there, std::min(late, undecided(account)));
  if (there != 0)
    rests.push_back({thread, there, account.last.state, account.last.stack, {}, account.last.cpu});
  if (there != late)
    rests.push_back(
        {thread, late - there, ThreadState::running, 0, Activity::unsampled, account.last.cpu});
}

std::vector<Rest> ThreadAccounts::look(std::uint32_t thread, const ThreadTimes& times,
                                       bool is_last) {
  std::vector<Rest> rests;
  Account& account = accounts_[thread];
  account.seen.cpu = std::max(times.cpu, account.seen.cpu);
  const std::uint64_t rest = untold(account, times.cpu);
  account.excess = excess_of(account, times);
  const std::uint64_t system = system_part(account, times, rest, is_last);
  const std::uint16_t cpu = account.cpus != 0 ? account.last.cpu : format::kNoCpu;
  if (system != 0) rests.push_back({thread, system, ThreadState::system, 0, Activity::system, cpu});
  const std::uint64_t late = late_part(account, rest - system, is_last);
  add_late(thread, account, late, is_last, rests);
  account.told += static_cast<std::int64_t>(system + late);
  account.told_system += system;
  account.has_ticked_since = false;
  for (Rest& each : rests) each.parallelism = account.last.parallelism;
  return rests;
}

}  // namespace gnomon::outside
