// What a counter has counted, against what the records in a ring stand for.
#include "libcollector/outside/count_balance.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "libcollector/counters/definition.h"
#include "libcollector/counters/trial.h"
#include "libcollector/format/counters.h"
#include "libcollector/format/watches.h"
#include "libcollector/outside/record.h"

namespace gnomon {
namespace {

using outside::CountBalance;

TEST(CountBalance, EveryCountIsToldOnce) {
  CountBalance balance(100);
  balance.begin(1000);
  EXPECT_EQ(balance.weigh_sample(), 100u);
  EXPECT_EQ(balance.weigh_sample(), 100u);
  // At a stop 30 more were counted, which the next sample has as well.
  auto rest = balance.rest(1230, 0);
  EXPECT_EQ(rest.final, 30u);
  EXPECT_EQ(rest.frozen, 0u);
  EXPECT_EQ(balance.weigh_sample(), 70u);
  EXPECT_EQ(balance.weigh_sample(), 100u);
  // One sample was lost.
  rest = balance.rest(1540, 1);
  EXPECT_EQ(rest.frozen, 100u);
  EXPECT_EQ(rest.final, 40u);
  EXPECT_EQ(balance.rest(1540, 1).final, 0u);
  EXPECT_EQ(balance.counted(1540), 540u);
}

TEST(CountBalance, WhatIsCountedInAPauseIsNotToldOf) {
  CountBalance balance(10);
  balance.begin(0);
  balance.pause(25);
  EXPECT_EQ(balance.counted(400), 25u);
  balance.begin(400);
  EXPECT_EQ(balance.counted(405), 30u);
  EXPECT_EQ(balance.rest(405, 0).final, 30u);
}

// The kernel counts before it writes, and a sample may come before the first look at the count.
TEST(CountBalance, NothingIsLessThanNothing) {
  CountBalance balance(10);
  balance.begin(50);
  EXPECT_EQ(balance.weigh_sample(), 10u);
  const auto rest = balance.rest(52, 0);
  EXPECT_EQ(rest.final, 0u);
  EXPECT_EQ(rest.frozen, 0u);
}

// What a processor's counter writes into a ring, made by hand: this machine may have none. Two
// threads on two CPUs; the kernel then takes no samples for a moment, and has no room for one more.
class StoredRing {
 public:
  static constexpr std::uint64_t kCycles = 41;
  std::vector<std::vector<std::uint64_t>> records;

  void sample(std::uint32_t thread, std::uint64_t time, std::uint64_t pc, bool is_of_kernel) {
    std::vector<std::uint64_t> words{0, kCycles, pair(7, thread), time, 0x7f0000001000, 0};
    if (is_of_kernel)
      words.insert(words.end(), {2, static_cast<std::uint64_t>(PERF_CONTEXT_KERNEL), ~0xfffull});
    else
      words.push_back(0);
    words.push_back(PERF_SAMPLE_REGS_ABI_64);
    for (int i = 0; i < 17; ++i) words.push_back(i == 8 ? pc : 0);
    words.push_back(0);  // no copy of the stack
    add(PERF_RECORD_SAMPLE, is_of_kernel ? PERF_RECORD_MISC_KERNEL : PERF_RECORD_MISC_USER, words);
  }
  void throttle(std::uint64_t time) {
    add(PERF_RECORD_THROTTLE, 0, {0, time, kCycles, kCycles, pair(7, 8), time, 0, kCycles});
  }
  void lost(std::uint64_t count) {
    add(PERF_RECORD_LOST, 0, {0, kCycles, count, pair(7, 8), 9000, 0, kCycles});
  }
  const perf_event_header& record(std::size_t i) const {
    return *reinterpret_cast<const perf_event_header*>(records[i].data());
  }

 private:
  static std::uint64_t pair(std::uint32_t low, std::uint32_t high) {
    return low | std::uint64_t{high} << 32;
  }
  void add(std::uint32_t type, std::uint16_t misc, std::vector<std::uint64_t> words) {
    const perf_event_header header{type, misc,
                                   static_cast<std::uint16_t>(words.size() * sizeof words[0])};
    std::memcpy(words.data(), &header, sizeof header);
    records.push_back(std::move(words));
  }
};

TEST(CountBalance, StoredRingOfAProcessorsCounter) {
  StoredRing ring;
  for (std::uint64_t i = 0; i < 6; ++i)
    ring.sample(i % 2 == 0 ? 8 : 9, 1000 + i, 0x401000 + i, i == 3);
  ring.throttle(2000);
  ring.lost(2);
  constexpr std::uint64_t kInterval = 1'000'003;
  CountBalance balance(kInterval);
  balance.begin(0);
  std::uint64_t told = 0, in_kernel = 0, throttles = 0, lost = 0;
  for (std::size_t i = 0; i < ring.records.size(); ++i) {
    const perf_event_header& record = ring.record(i);
    outside::Sample sample;
    if (outside::decode(record, sample)) {
      EXPECT_EQ(sample.origin.event, StoredRing::kCycles);
      EXPECT_EQ(sample.address, 0x7f0000001000u);
      told += balance.weigh_sample();
      in_kernel += sample.is_of_kernel ? 1 : 0;
    }
    if (outside::is_throttle(record) && outside::origin_of(record).event == StoredRing::kCycles)
      ++throttles;
    lost += outside::lost_in(record);
  }
  EXPECT_EQ(told, 6 * kInterval);
  EXPECT_EQ(in_kernel, 1u);
  EXPECT_EQ(throttles, 1u);
  const std::uint64_t counted = 8 * kInterval + 12345;
  const auto rest = balance.rest(counted, lost);
  EXPECT_EQ(rest.frozen, 2 * kInterval);
  EXPECT_EQ(rest.final, 12345u);
  EXPECT_EQ(told + rest.frozen + rest.final, counted);
}

TEST(Counters, TheirTextKeepsThem) {
  format::Counter one{"cycles", "CPU Cycles", 0, 1, 2, 3, 9'999'991, 2, true, false, true};
  format::Counter two{"page-faults", "Page Faults", 1, 2, 0, 0, 97, 0, true, true, false};
  const auto read = format::counters_in(format::counters_text({one, two}) + "broken|1;");
  ASSERT_EQ(read.size(), 2u);
  EXPECT_EQ(read[0].name, "cycles");
  EXPECT_EQ(read[0].config2, 3u);
  EXPECT_EQ(read[0].precise, 2u);
  EXPECT_TRUE(read[0].is_cycles);
  EXPECT_FALSE(read[0].is_of_system);
  EXPECT_EQ(read[1].title, "Page Faults");
  EXPECT_EQ(read[1].interval, 97u);
  EXPECT_TRUE(format::counters_in("").empty());
}

TEST(Watches, TheirTextKeepsThem) {
  format::Watch watch{0, false, true, 0x7fff12345678, 4, 100, "node->next [2]"};
  const auto read = format::watch_in(format::watch_text(watch, 255));
  EXPECT_EQ(read.address, watch.address);
  EXPECT_EQ(read.size, 4u);
  EXPECT_EQ(read.interval, 100u);
  EXPECT_TRUE(read.is_read);
  EXPECT_EQ(read.name, watch.name);
  EXPECT_EQ(format::watch_text(watch, 20).size(), 20u);
  EXPECT_EQ(format::watch_in("1 2").address, 0u);
}

std::string parsed(const std::vector<std::string>& words) {
  std::vector<counters::Definition> found;
  if (const auto wrong = counters::parse(words, found); !wrong.what.empty()) return wrong.what;
  std::string text;
  for (const auto& each : found) {
    text += (each.wants_address ? "+" : "") + each.name + "=" + each.interval;
    for (const auto& [name, value] : each.attributes) text.append("~").append(name).append(value);
    text += ";";
  }
  return text;
}

TEST(CounterDefinition, Words) {
  EXPECT_EQ(parsed({"cycles"}), "cycles=;");
  EXPECT_EQ(parsed({"cycles,hi,insts,1000003"}), "cycles=hi;insts=1000003;");
  EXPECT_EQ(parsed({"cycles", "on", "insts", "0x10"}), "cycles=on;insts=0x10;");
  EXPECT_EQ(parsed({"cycles,,insts"}), "cycles=;insts=;");
  EXPECT_EQ(parsed({"+mem-loads~system=0,97"}), "+mem-loads=97~system0;");
  EXPECT_EQ(parsed({"perf::CYCLES:u"}), "perf::CYCLES:u=;");
  EXPECT_EQ(parsed({"97"}), "97 is an interval without a counter");
  EXPECT_EQ(parsed({"cycles,0"}), "0 is no interval");
  EXPECT_EQ(parsed({"cycles/1"}), "cycles/1 names a register, which the kernel chooses");
  EXPECT_EQ(parsed({"cycles~x"}), "~x is not an attribute");
  EXPECT_EQ(parsed({"cycles,cycles"}), "cycles is named twice");
  EXPECT_EQ(parsed({""}), "no counter is named");
  EXPECT_EQ(parsed({"a|b"}), "a|b is not the name of a counter");
}

TEST(CounterDefinition, Intervals) {
  EXPECT_EQ(counters::interval_of("", 97), 97u);
  EXPECT_EQ(counters::interval_of("hi", 97), 9u);
  EXPECT_EQ(counters::interval_of("h", 1), 1u);
  EXPECT_EQ(counters::interval_of("lo", 97), 970u);
  EXPECT_EQ(counters::interval_of("0x20", 97), 32u);
  EXPECT_EQ(counters::interval_of("12x", 97), 0u);
  EXPECT_EQ(counters::interval_of("99999999999999999999", 97), 0u);
}

// had_a_counter() takes what read(2) returned, the time enabled and the time running. Running is
// less than enabled if events took turns; read(2) returns 0 if the event found no counter at all.
TEST(CounterTrial, Turns) {
  EXPECT_TRUE(counters::had_a_counter({24, 5000, 5000}));
  EXPECT_FALSE(counters::had_a_counter({24, 5000, 2500}));
  EXPECT_FALSE(counters::had_a_counter({0, 0, 0}));
  EXPECT_FALSE(counters::had_a_counter({-1, 0, 0}));
}

}  // namespace
}  // namespace gnomon
