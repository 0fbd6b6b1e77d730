// What is told of time off a CPU, from records and accounts like those of real threads.
#include "libcollector/outside/thread_states.h"

#include <gtest/gtest.h>

#include <map>

namespace gnomon::outside {
namespace {

using format::ThreadState;

class ThreadStatesTest : public testing::Test {
 protected:
  static constexpr std::uint32_t kThread = 7, kStack = 42, kOther = 43;
  static constexpr std::uint64_t kMs = 1'000'000, kUs = 1000;

  void begin(std::uint64_t time, bool is_on) { states.begin(kThread, times(0, 0, time), is_on); }
  static ThreadTimes times(std::uint64_t cpu, std::uint64_t delay, std::uint64_t at) {
    ThreadTimes times{cpu};
    times.delay = delay;
    times.at = at;
    return times;
  }
  // From `from` to `to`, of which `place` was sampled.
  void off(std::uint64_t from, std::uint64_t to, const WaitPlace& place = {},
           bool is_preempted = false) {
    if (place.stack != 0) note(from, place);
    states.on_out(kThread, from, is_preempted);
    states.on_in(kThread, to);
  }
  void note(std::uint64_t time, const WaitPlace& place) {
    reasons[place.stack] = place.state;
    states.on_place(kThread, time, place.stack);
  }
  void look(std::uint64_t cpu, std::uint64_t delay, std::uint64_t at, bool is_all = false) {
    add(states.tell(kThread, times(cpu, delay, at), is_all));
  }
  void add(const std::vector<OffCpu>& told) {
    for (const OffCpu& each : told) {
      EXPECT_LE(each.weight, each.length);
      sums[{each.state, each.stack}] += each.weight;
      all.push_back(each);
    }
  }
  std::uint64_t sum(ThreadState state, std::uint32_t stack) { return sums[{state, stack}]; }

  std::map<std::uint32_t, ThreadState> reasons;  // by call stack
  std::optional<WaitPlace> call;                 // that the thread tells
  ThreadStates states{[this](std::uint32_t stack) { return reasons[stack]; },
                      [this](std::uint32_t, std::uint64_t, std::uint64_t) { return call; }};
  std::map<std::pair<ThreadState, std::uint32_t>, std::uint64_t> sums;
  std::vector<OffCpu> all;
};

TEST_F(ThreadStatesTest, WhatTheAccountsSayGoesToTheSwitches) {
  begin(0, true);
  off(10 * kMs, 30 * kMs, {kStack, ThreadState::sleep});
  off(40 * kMs, 45 * kMs, {kOther, ThreadState::blocked}, true);
  look(72 * kMs, 8 * kMs, 100 * kMs);
  EXPECT_EQ(sum(ThreadState::wait_cpu, kOther), 5 * kMs) << "preempted";
  EXPECT_EQ(sum(ThreadState::wait_cpu, kStack), 3 * kMs) << "woken, and no CPU was free";
  EXPECT_EQ(sum(ThreadState::sleep, kStack), 17 * kMs);
}

// Records take the time of the switch itself for waiting.
TEST_F(ThreadStatesTest, SwitchesDoNotAddUpToMoreThanTheAccounts) {
  begin(0, true);
  for (std::uint64_t at = 0; at < 100; ++at)
    off(at * kMs, at * kMs + 500 * kUs, {kStack, ThreadState::other_wait});
  look(60 * kMs, 0, 100 * kMs);
  EXPECT_NEAR(static_cast<double>(sum(ThreadState::other_wait, kStack)), 40e6, 1e3);
  ASSERT_EQ(all.size(), 1u) << "short ones are told together";
  EXPECT_EQ(all[0].length, 100 * kMs);
}

TEST_F(ThreadStatesTest, AccountsThatLagAreMadeUpForLater) {
  begin(0, true);
  look(96 * kMs, 0, 100 * kMs);  // a tick of the kernel's is missing
  EXPECT_TRUE(all.empty());
  off(150 * kMs, 160 * kMs, {kStack, ThreadState::lock});
  look(190 * kMs, 0, 200 * kMs);
  EXPECT_EQ(sum(ThreadState::lock, kStack), 10 * kMs);
}

TEST_F(ThreadStatesTest, ALongWaitIsToldOnceUnlessItIsAskedFor) {
  begin(0, true);
  note(50 * kMs, {kStack, ThreadState::sleep});
  states.on_out(kThread, 50 * kMs, false);
  look(50 * kMs, 0, 100 * kMs);
  look(50 * kMs, 0, 200 * kMs);
  EXPECT_TRUE(all.empty());
  look(50 * kMs, 0, 300 * kMs, true);
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].end, 300 * kMs);
  EXPECT_EQ(all[0].weight, 250 * kMs);
  states.on_in(kThread, 400 * kMs);
  look(60 * kMs, 0, 410 * kMs);
  EXPECT_EQ(sum(ThreadState::sleep, kStack), 350 * kMs);
  EXPECT_EQ(all[1].end, 400 * kMs);
}

TEST_F(ThreadStatesTest, StopsAreTheirOwn) {
  begin(0, true);
  states.on_out(kThread, 10 * kMs, true);
  states.mark_stopped();
  look(10 * kMs, 0, 20 * kMs, true);
  states.on_in(kThread, 90 * kMs);
  look(20 * kMs, 0, 100 * kMs);
  EXPECT_EQ(sum(ThreadState::stopped, 0), 80 * kMs);
  EXPECT_EQ(sums.size(), 1u);
}

// The call stack of a switch that was not sampled is taken from one of the same thread that was.
TEST_F(ThreadStatesTest, PlacesThatWereNotSampledAreLikeThoseThatWere) {
  begin(0, true);
  for (std::uint64_t at = 0; at < 90; at += 10) {
    const bool is_sampled = at % 30 == 0;
    off(at * kMs, (at + 6) * kMs, is_sampled ? WaitPlace{kStack, ThreadState::lock} : WaitPlace());
    off((at + 7) * kMs, (at + 9) * kMs,
        is_sampled ? WaitPlace{kOther, ThreadState::sleep} : WaitPlace());
  }
  look(18 * kMs, 0, 90 * kMs);
  EXPECT_EQ(sum(ThreadState::lock, kStack) + sum(ThreadState::sleep, kOther), 72 * kMs);
  EXPECT_NEAR(static_cast<double>(sum(ThreadState::lock, kStack)), 54e6, 4e6);
}

TEST_F(ThreadStatesTest, ThreadsAreToldOfToTheirEnd) {
  states.on_fork(kThread, 5 * kMs);
  states.on_in(kThread, 7 * kMs);
  off(10 * kMs, 20 * kMs, {kStack, ThreadState::sleep});
  EXPECT_EQ(states.running(), 1u);
  states.on_exit(kThread, 25 * kMs);
  EXPECT_EQ(states.running(), 0u);
  add(states.end(kThread, 8 * kMs, 99 * kMs));
  EXPECT_EQ(sum(ThreadState::wait_cpu, 0), 2 * kMs) << "for its first CPU";
  EXPECT_EQ(sum(ThreadState::sleep, kStack), 10 * kMs);
}

TEST_F(ThreadStatesTest, AThreadMayTellItselfWhereItWas) {
  begin(0, true);
  off(10 * kMs, 20 * kMs);
  look(10 * kMs, 0, 20 * kMs);
  EXPECT_EQ(sum(ThreadState::blocked, 0), 10 * kMs);
  call = WaitPlace{kStack, ThreadState::sleep};
  off(30 * kMs, 40 * kMs);
  off(42 * kMs, 45 * kMs, {}, true);
  look(27 * kMs, 3 * kMs, 50 * kMs);
  EXPECT_EQ(sum(ThreadState::sleep, kStack), 10 * kMs);
  EXPECT_EQ(sum(ThreadState::wait_cpu, 0), 3 * kMs) << "a call does not wait for a CPU";
  call.reset();
  off(60 * kMs, 70 * kMs);
  look(37 * kMs, 3 * kMs, 70 * kMs);
  EXPECT_EQ(sum(ThreadState::blocked, 0), 20 * kMs);
}

// Two sets of events may tell of one switch.
TEST_F(ThreadStatesTest, ASecondRecordOfASwitchChangesNothing) {
  begin(0, true);
  states.on_out(kThread, 10 * kMs, false);
  states.on_out(kThread, 10 * kMs + 50, false);
  EXPECT_EQ(states.running(), 0u);
  states.on_in(kThread, 20 * kMs);
  states.on_in(kThread, 20 * kMs + 50);
  EXPECT_EQ(states.running(), 1u);
  look(90 * kMs, 0, 100 * kMs);
  EXPECT_EQ(sum(ThreadState::blocked, 0), 10 * kMs);
}

TEST_F(ThreadStatesTest, WithoutSwitchesTheAccountsAreToldAlone) {
  begin(0, true);
  states.lose_switches();
  EXPECT_EQ(states.running(), 0u) << "not known";
  look(40 * kMs, 10 * kMs, 100 * kMs);
  EXPECT_EQ(sum(ThreadState::wait_cpu, 0), 10 * kMs);
  EXPECT_EQ(sum(ThreadState::blocked, 0), 50 * kMs);
}

}  // namespace
}  // namespace gnomon::outside
