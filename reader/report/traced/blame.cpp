// What made threads wait. Any thread.
#include "reader/report/traced/blame.h"

#include <algorithm>

namespace gnomon::reader {
namespace {

// Chains are followed so far; who waits for himself in a circle would be followed for ever.
constexpr unsigned kDeepest = 16;

Blamed blamed_for(format::ThreadState state) {
  switch (state) {
    case format::ThreadState::sleep:
      return Blamed::slept;
    case format::ThreadState::wait_cpu:
      return Blamed::wanted_cpu;
    case format::ThreadState::lock:
      return Blamed::locked;
    case format::ThreadState::other_wait:
      return Blamed::waited_in;
    case format::ThreadState::stopped:
      return Blamed::stopped;
    default:
      return Blamed::blocked;
  }
}

std::uint64_t part_of(std::uint64_t whole, std::uint64_t part, std::uint64_t of) {
  return static_cast<std::uint64_t>(static_cast<double>(whole) * static_cast<double>(part) /
                                    static_cast<double>(of));
}

}  // namespace

// The kernel's accounts of a stretch lie evenly in it. Nobody waits somewhere for a CPU.
void BlameSum::charge_free(const ThreadPast& past, std::uint32_t holder, std::uint64_t begin,
                           std::uint64_t end) {
  if (begin == end) return;
  free_[holder] += end - begin;
  auto rest = std::upper_bound(
      past.rests.begin(), past.rests.end(), begin,
      [](std::uint64_t time, const RecordedRest& each) { return time < each.end; });
  for (; rest != past.rests.end() && rest->begin < end; ++rest) {
    const std::uint64_t from = std::max(begin, rest->begin), to = std::min(end, rest->end);
    if (from >= to) continue;
    const Blamed what = blamed_for(rest->state);
    rests_[{what, holder, what == Blamed::wanted_cpu ? 0 : rest->stack}] +=
        part_of(rest->weight, to - from, rest->end - rest->begin);
  }
}

void BlameSum::charge(std::uint32_t holder, std::uint64_t begin, std::uint64_t end,
                      unsigned depth) {
  const auto found = pasts_->find(holder);
  if (holder == 0 || found == pasts_->end()) {
    known_[{Blamed::unknown, 0, 0}] += end - begin;
    return;
  }
  const ThreadPast& past = found->second;
  std::uint64_t at = begin;
  const auto first = std::upper_bound(
      past.waits.begin(), past.waits.end(), begin,
      [](std::uint64_t time, const RecordedWait& wait) { return time < wait.end; });
  for (auto wait = first; wait != past.waits.end() && at < end; ++wait) {
    const std::uint64_t from = std::max(at, wait->begin), to = std::min(end, wait->end);
    if (from >= to) continue;
    charge_free(past, holder, at, from);
    if (wait->holder != 0 && depth < kDeepest)
      charge(wait->holder, from, to, depth + 1);
    else
      known_[{Blamed::waited, holder, wait->stack}] += to - from;
    at = to;
  }
  charge_free(past, holder, at, end);
  auto sample = std::upper_bound(
      past.samples.begin(), past.samples.end(), begin,
      [](std::uint64_t time, const TakenSample& each) { return time < each.time; });
  for (; sample != past.samples.end() && sample->time <= end; ++sample)
    sampled_[{Blamed::ran, holder, sample->stack}] += sample->weight;
}

void BlameSum::add(const RecordedWait& wait) { charge(wait.holder, wait.begin, wait.end, 0); }

void BlameSum::take(const Times& times, std::uint64_t& room, Times& shares) {
  std::uint64_t sum = 0;
  for (const auto& [blame, time] : times) sum += time;
  const std::uint64_t before = room;
  for (const auto& [blame, time] : times) {
    const std::uint64_t share = std::min(room, sum <= before ? time : part_of(before, time, sum));
    if (share != 0) shares[blame] += share;
    room -= share;
  }
}

// Counts of the kernel off a CPU have times of their own; samples stand for time around them.
std::map<Blame, std::uint64_t> BlameSum::shares() const {
  Times shares = known_;
  std::uint64_t left = 0;
  for (const auto& [thread, time] : free_) left += time;
  const std::uint64_t crumbs = left / 1000;  // of rounding
  take(rests_, left, shares);
  take(sampled_, left, shares);
  if (left <= crumbs && !shares.empty()) {
    shares.begin()->second += left;
    return shares;
  }
  if (left == 0) return shares;
  const bool is_counted = std::any_of(free_.begin(), free_.end(), [&](const auto& each) {
    const auto past = pasts_->find(each.first);
    return past != pasts_->end() && !past->second.rests.empty();
  });
  shares[{is_counted ? Blamed::too_short : Blamed::off_cpu, 0, 0}] += left;
  return shares;
}

}  // namespace gnomon::reader
