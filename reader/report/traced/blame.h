// What made threads wait: a wait is charged to what the thread did meanwhile that held the object
// waited for, and where that waited itself, to what its own holder did, and so on (Zhou et al.,
// "wPerf: Generic Off-CPU Analysis to Identify Bottleneck Waiting Events", OSDI 2018). Any thread.
#pragma once
#include <compare>
#include <cstdint>
#include <map>

#include "reader/report/traced/waits.h"

namespace gnomon::reader {

// ran: in that call stack. waited: there, for what nobody is known to have held. off_cpu: it had no
// sample of the clock: it slept, did I/O, or ran for less than the clock's interval. unknown: who
// held the object.
enum class Blamed : std::uint8_t { ran, waited, off_cpu, unknown };

struct Blame {
  Blamed what = Blamed::unknown;
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

  const ThreadPasts* pasts_;
  std::map<Blame, std::uint64_t> known_;  // ns
  // Time of holders that did not wait, and CPU time that the clock saw in it, by call stack. They
  // are compared once all waits are there: most waits are shorter than the clock's interval.
  std::uint64_t free_ = 0;
  std::map<std::uint32_t, std::uint64_t> sampled_;
};

}  // namespace gnomon::reader
