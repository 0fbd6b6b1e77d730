// What made threads wait. Any thread.
#include "reader/report/traced/blame.h"

#include <algorithm>

namespace gnomon::reader {
namespace {

// Chains are followed so far; who waits for himself in a circle would be followed for ever.
constexpr unsigned kDeepest = 16;

}  // namespace

void BlameSum::charge(std::uint32_t holder, std::uint64_t begin, std::uint64_t end,
                      unsigned depth) {
  const auto found = pasts_->find(holder);
  if (holder == 0 || found == pasts_->end()) {
    known_[{Blamed::unknown, 0}] += end - begin;
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
    free_ += from - at;
    if (wait->holder != 0 && depth < kDeepest)
      charge(wait->holder, from, to, depth + 1);
    else
      known_[{Blamed::waited, wait->stack}] += to - from;
    at = to;
  }
  free_ += end - at;
  auto sample = std::upper_bound(
      past.samples.begin(), past.samples.end(), begin,
      [](std::uint64_t time, const TakenSample& each) { return time < each.time; });
  for (; sample != past.samples.end() && sample->time <= end; ++sample)
    sampled_[sample->stack] += sample->weight;
}

void BlameSum::add(const RecordedWait& wait) { charge(wait.holder, wait.begin, wait.end, 0); }

std::map<Blame, std::uint64_t> BlameSum::shares() const {
  std::map<Blame, std::uint64_t> shares = known_;
  std::uint64_t cpu = 0;
  for (const auto& [stack, time] : sampled_) cpu += time;
  std::uint64_t left = free_;
  for (const auto& [stack, time] : sampled_) {
    const auto own = cpu <= free_ ? time
                                  : static_cast<std::uint64_t>(static_cast<double>(time) /
                                                               static_cast<double>(cpu) *
                                                               static_cast<double>(free_));
    const std::uint64_t share = std::min(own, left);
    if (share != 0) shares[{Blamed::ran, stack}] += share;
    left -= share;
  }
  if (left != 0) shares[{Blamed::off_cpu, 0}] += left;
  return shares;
}

}  // namespace gnomon::reader
