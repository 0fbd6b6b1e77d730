// What made threads wait: a wait is charged to what the thread did meanwhile that held the object
// waited for, and where that waited itself, to what its own holder did, and so on (Zhou et al.,
// "wPerf: Generic Off-CPU Analysis to Identify Bottleneck Waiting Events", OSDI 2018). Any thread.
#pragma once
#include <compare>
#include <cstdint>
#include <map>

#include "reader/report/traced/waits.h"

namespace gnomon::reader {

// What a thread did that held what was waited for. ran, slept, wanted_cpu (it waited for one),
// locked (it waited in a lock that is not traced), waited_in (for something else in the kernel),
// stopped, blocked: there, as the kernel counts its time. waited: for what nobody is known to have
// held. too_short: it ran for less than the clock's interval. off_cpu: it had no sample of a clock
// that tells of nothing else. unknown: who held the object.
enum class Blamed : std::uint8_t {
  ran,
  slept,
  wanted_cpu,
  locked,
  waited_in,
  stopped,
  blocked,
  waited,
  too_short,
  off_cpu,
  unknown
};

struct Blame {
  Blamed what = Blamed::unknown;
  std::uint32_t thread = 0;  // the holder; 0: not known
  std::uint32_t stack = 0;
  auto operator<=>(const Blame&) const = default;
};

// Waits that belong together. The shares of all of them add up to the waits.
class BlameSum {
 public:
  explicit BlameSum(const ThreadPasts& pasts) : pasts_(&pasts) {}
  void add(const RecordedWait& wait);
  // ns
  std::map<Blame, std::uint64_t> shares() const;

 private:
  void charge(std::uint32_t holder, std::uint64_t begin, std::uint64_t end, unsigned depth);
  void charge_free(const ThreadPast& past, std::uint32_t holder, std::uint64_t begin,
                   std::uint64_t end);

  using Times = std::map<Blame, std::uint64_t>;  // ns
  // Adds `times`, made smaller if they are more than `room`, which they are taken from.
  static void take(const Times& times, std::uint64_t& room, Times& shares);

  const ThreadPasts* pasts_;
  Times known_;
  // Time of holders that did not wait for another one, and what they did in it. They are compared
  // once all waits are there: most waits are shorter than the clock's interval.
  std::map<std::uint32_t, std::uint64_t> free_;  // by thread
  Times rests_, sampled_;
};

}  // namespace gnomon::reader
