// What is told of CPU time that no tick stands for, from figures like those of real threads.
#include "libcollector/outside/thread_accounts.h"

#include <gtest/gtest.h>

namespace gnomon::outside {
namespace {

using format::ThreadState;

constexpr std::uint32_t kThread = 7, kStack = 42;
constexpr std::uint64_t kMs = 1'000'000, kPeriod = 10 * kMs;

class ThreadAccountsTest : public testing::Test {
 protected:
  void tick(int times, std::uint16_t cpu = 0, ThreadState state = ThreadState::user) {
    for (int i = 0; i < times; ++i) accounts.add(kThread, {kPeriod, kStack, state, cpu});
  }
  // system: as the kernel estimates it.
  std::vector<Rest> look(std::uint64_t cpu, std::uint64_t system = ThreadTimes::kUnknown) {
    return accounts.look(kThread, {cpu, system}, false);
  }
  std::vector<Rest> end(std::uint64_t cpu) {
    return accounts.look(kThread, {cpu, ThreadTimes::kUnknown}, true);
  }
  static void expect_one(const std::vector<Rest>& rests, std::uint64_t weight, ThreadState state,
                         std::uint32_t stack) {
    ASSERT_EQ(rests.size(), 1u);
    EXPECT_EQ(rests[0].thread, kThread);
    EXPECT_EQ(rests[0].weight, weight);
    EXPECT_EQ(rests[0].state, state);
    EXPECT_EQ(rests[0].stack, stack);
  }
  ThreadAccounts accounts{kPeriod};
};

TEST_F(ThreadAccountsTest, TicksThatStandForAllLeaveNothing) {
  tick(10);
  EXPECT_TRUE(look(10 * kPeriod).empty());
  EXPECT_TRUE(end(10 * kPeriod).empty());
}

TEST_F(ThreadAccountsTest, WhatIsLeftOfAPeriodIsToldAtTheEnd) {
  tick(10);
  EXPECT_TRUE(look(10 * kPeriod + 4 * kMs).empty());
  expect_one(end(10 * kPeriod + 4 * kMs), 4 * kMs, ThreadState::user, kStack);
  EXPECT_TRUE(end(10 * kPeriod + 4 * kMs).empty()) << "once";
}

TEST_F(ThreadAccountsTest, DroppedTicksAreTimeInTheKernel) {
  tick(10);
  expect_one(look(30 * kPeriod, 19 * kPeriod), 19 * kPeriod, ThreadState::system, 0);
  EXPECT_TRUE(look(30 * kPeriod, 20 * kPeriod).empty());
  tick(1);
  expect_one(look(41 * kPeriod, 29 * kPeriod), 10 * kPeriod, ThreadState::system, 0);
}

TEST_F(ThreadAccountsTest, LateTicksAreNoTimeInTheKernel) {
  tick(100);
  const auto rests = look(150 * kPeriod, 0);
  ASSERT_EQ(rests.size(), 2u);
  EXPECT_EQ(rests[0].state, ThreadState::system);
  EXPECT_LE(rests[0].weight, 20 * kMs) << "the kernel counts in units of 10 ms";
  EXPECT_EQ(rests[1].state, ThreadState::user);
  EXPECT_EQ(rests[1].stack, kStack);
  EXPECT_EQ(rests[0].weight + rests[1].weight, 49 * kPeriod);
}

// A look is told when later ticks have come.
TEST_F(ThreadAccountsTest, TicksAfterTheLookAreNoneOfOthers) {
  for (std::uint64_t i = 1; i <= 10; ++i)
    accounts.add(kThread, {kPeriod, kStack, ThreadState::user, 0, 0, i * kPeriod});
  ThreadTimes times{8 * kPeriod};
  times.at = 8 * kPeriod;
  EXPECT_TRUE(accounts.look(kThread, times, false).empty());
  EXPECT_EQ(accounts.next_weight(kThread), kPeriod);
}

// The kernel counts some ticks of the thread's to another one, and the other way round.
TEST_F(ThreadAccountsTest, TicksOfOthersAreMadeUpFor) {
  EXPECT_EQ(accounts.next_weight(kThread), kPeriod);
  tick(10);
  EXPECT_TRUE(look(8 * kPeriod - 4 * kMs).empty());
  std::uint64_t told = 10 * kPeriod;
  for (int i = 0; i < 4; ++i) {
    const std::uint64_t weight = accounts.next_weight(kThread);
    EXPECT_GE(weight, kPeriod / 4);
    accounts.add(kThread, {weight, kStack, ThreadState::user, 0});
    told += weight;
  }
  EXPECT_EQ(told, 12 * kPeriod);
  EXPECT_EQ(accounts.next_weight(kThread), kPeriod);
}

TEST_F(ThreadAccountsTest, AnOldTickSaysNotWhereTheThreadIs) {
  accounts.see_kernel();
  tick(1);
  EXPECT_TRUE(look(kPeriod).empty());
  expect_one(look(9 * kPeriod), 7 * kPeriod, ThreadState::running, 0);
  const auto rests = end(11 * kPeriod);
  ASSERT_EQ(rests.size(), 2u);
  EXPECT_EQ(rests[0].stack, kStack) << "part of the period that began there";
  EXPECT_EQ(rests[0].weight, kPeriod);
  EXPECT_EQ(rests[1].activity, format::Activity::unsampled);
  EXPECT_EQ(rests[1].weight, 2 * kPeriod);
}

TEST_F(ThreadAccountsTest, AThreadThatNeverTicksWasInTheKernel) {
  expect_one(look(8 * kPeriod, 0), 7 * kPeriod, ThreadState::system, 0);
  expect_one(end(9 * kPeriod), 2 * kPeriod, ThreadState::system, 0);
}

TEST_F(ThreadAccountsTest, AShortThreadHasNoPlace) {
  expect_one(end(kMs / 100), kMs / 100, ThreadState::user, 0);
}

TEST_F(ThreadAccountsTest, EachCpuMayHoldPartOfAPeriod) {
  for (std::uint16_t cpu = 0; cpu < 4; ++cpu) tick(1, cpu);
  EXPECT_TRUE(look(8 * kPeriod, 4 * kPeriod).empty());
  expect_one(look(10 * kPeriod, 6 * kPeriod), 2 * kPeriod, ThreadState::system, 0);
}

TEST_F(ThreadAccountsTest, WithAViewOfTheKernelNothingIsTakenForIt) {
  accounts.see_kernel();
  tick(10, 0, ThreadState::system);
  EXPECT_FALSE(accounts.needs_system_time(kThread, 30 * kPeriod));
  expect_one(look(30 * kPeriod), 19 * kPeriod, ThreadState::system, kStack);
}

TEST_F(ThreadAccountsTest, WhatIsSkippedIsNotTold) {
  tick(3);
  accounts.skip(kThread, {100 * kPeriod, 50 * kPeriod});
  EXPECT_TRUE(look(100 * kPeriod, 50 * kPeriod).empty());
  tick(2);
  EXPECT_TRUE(look(102 * kPeriod, 50 * kPeriod).empty());
  expect_one(look(110 * kPeriod, 57 * kPeriod), 7 * kPeriod, ThreadState::system, 0);
}

TEST_F(ThreadAccountsTest, ATickMayStandForTimeThatWasSkipped) {
  accounts.skip(kThread, {kPeriod / 2, 0});
  tick(1);
  EXPECT_TRUE(look(kPeriod, 0).empty());
  tick(1);
  EXPECT_TRUE(end(2 * kPeriod).empty());
  expect_one(end(3 * kPeriod), kPeriod / 2, ThreadState::user, kStack);
}

}  // namespace
}  // namespace gnomon::outside
