// From the kernel's records of switches to the waits that are told.
#include "libcollector/outside/waiting.h"

#include <gtest/gtest.h>

#include <vector>

#include "tests/unit/outside/record_bytes.h"

namespace gnomon::outside {
namespace {

using format::ThreadState;

class WaitingTest : public testing::Test {
 protected:
  static constexpr std::uint32_t kProcess = 0x7fff0007, kThread = 0x7fff0008;  // there is none
  static constexpr std::uint64_t kMs = 1'000'000;

  void switched(std::uint64_t time, std::uint16_t misc, std::uint32_t process = kProcess) {
    test::RecordBytes bytes(PERF_RECORD_SWITCH, misc);
    waiting.on_switch(bytes.origin_behind(12, time, process, kThread).record());
  }
  void out(std::uint64_t time, std::uint16_t how = 0) {
    switched(time, static_cast<std::uint16_t>(PERF_RECORD_MISC_SWITCH_OUT | how));
  }
  void in(std::uint64_t time) { switched(time, 0); }
  void place(std::uint64_t time, std::uint32_t process = kProcess) {
    Sample sample;
    sample.origin = {12, time, process, kThread, 0};
    waiting.on_place(sample);
  }
  static ThreadTimes times(std::uint64_t cpu, std::uint64_t delay, std::uint64_t at) {
    ThreadTimes times{cpu};
    times.delay = delay;
    times.at = at;
    return times;
  }
  std::uint64_t sum(ThreadState state) const {
    std::uint64_t sum = 0;
    for (const OffCpu& each : told) sum += each.state == state ? each.weight : 0;
    return sum;
  }

  std::vector<OffCpu> told;
  std::uint32_t stack = 42;  // from which the thread leaves its CPU
  ThreadState reason = ThreadState::sleep;
  Waiting waiting{
      static_cast<pid_t>(kProcess),
      {[this](const OffCpu& off) { told.push_back(off); }, [this](const Sample&) { return stack; },
       [](const Sample&) { return 0u; },
       [this](std::uint32_t of) { return of == stack ? reason : ThreadState::blocked; },
       [](std::uint32_t, std::uint64_t, std::uint64_t) { return std::optional<WaitPlace>(); },
       [](const CpuUse::Stretch&) {}, [](const std::string&) {}}};
};

TEST_F(WaitingTest, AWaitHasThePlaceWhereTheThreadLeftItsCpu) {
  waiting.begin(kThread, times(0, 0, 100 * kMs), false);
  in(110 * kMs);
  place(150 * kMs);
  out(150 * kMs);
  in(190 * kMs);
  waiting.tell(kThread, times(50 * kMs, 0, 200 * kMs), true);
  ASSERT_EQ(told.size(), 2u);
  EXPECT_EQ(told[0].stack, 0u) << "it waited before the recording began";
  EXPECT_EQ(told[0].state, ThreadState::blocked);
  EXPECT_NEAR(static_cast<double>(told[0].weight), 10e6, 1e5);
  EXPECT_EQ(told[1].thread, kThread);
  EXPECT_EQ(told[1].stack, stack);
  EXPECT_EQ(told[1].state, ThreadState::sleep);
  EXPECT_EQ(told[1].end, 190 * kMs);
  EXPECT_EQ(told[1].length, 40 * kMs);
  EXPECT_NEAR(static_cast<double>(told[1].weight), 40e6, 1e5);
}

TEST_F(WaitingTest, AThreadThatIsPreemptedWaitsForACpu) {
  waiting.begin(kThread, times(0, 0, 100 * kMs), false);
  in(100 * kMs);
  out(120 * kMs, PERF_RECORD_MISC_SWITCH_OUT_PREEMPT);
  in(150 * kMs);
  waiting.tell(kThread, times(70 * kMs, 30 * kMs, 200 * kMs), true);
  EXPECT_EQ(sum(ThreadState::wait_cpu), 30 * kMs);
  EXPECT_EQ(sum(ThreadState::blocked), 0u);
}

TEST_F(WaitingTest, OtherProcessesAreLeftOut) {
  waiting.begin(kThread, times(0, 0, 100 * kMs), false);
  in(100 * kMs);
  switched(120 * kMs, PERF_RECORD_MISC_SWITCH_OUT, kProcess + 1);
  place(120 * kMs, kProcess + 1);
  switched(150 * kMs, 0, kProcess + 1);
  waiting.tell(kThread, times(100 * kMs, 0, 200 * kMs), true);
  EXPECT_EQ(sum(ThreadState::blocked) + sum(ThreadState::sleep), 0u);
}

TEST_F(WaitingTest, HowManyAreOnACpu) {
  EXPECT_EQ(waiting.running(), 0u);
  in(100 * kMs);
  EXPECT_EQ(waiting.running(), 1u);
  waiting.on_exit(kThread, 110 * kMs);
  EXPECT_EQ(waiting.running(), 0u);
}

TEST_F(WaitingTest, WhatIsLeftIsToldAtTheEnd) {
  waiting.begin(kThread, times(0, 0, 100 * kMs), false);
  in(100 * kMs);
  place(110 * kMs);
  out(110 * kMs);
  waiting.tell(kThread, times(10 * kMs, 0, 200 * kMs), false);
  EXPECT_TRUE(told.empty()) << "the wait is not over";
  waiting.end(kThread, 10 * kMs, 300 * kMs);
  EXPECT_EQ(sum(ThreadState::sleep), 190 * kMs);
}

}  // namespace
}  // namespace gnomon::outside
