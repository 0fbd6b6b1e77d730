// The rests of a process that is there, this one, and that has told more of itself than the kernel.
#include "libcollector/outside/cpu_rests.h"

#include <gtest/gtest.h>
#include <time.h>
#include <unistd.h>

#include "libcollector/core/time.h"

namespace gnomon::outside {
namespace {

constexpr std::uint64_t kSecond = 1'000'000'000;  // ns

// Adds up what is told.
CpuRests::Calls calls_that_add(std::uint64_t& told) {
  CpuRests::Calls calls;
  calls.tell = [&](const Rest& rest, std::uint64_t) { told += rest.weight; };
  calls.end_of = [](std::uint32_t) { return CpuRests::End{}; };
  calls.split = [](const Rest& rest) { return std::vector<Rest>{rest}; };
  calls.begins = [](std::uint32_t, const ThreadTimes&) {};
  calls.looked = [](std::uint32_t, const ThreadTimes&, bool) {};
  calls.ends = [](std::uint32_t, std::uint64_t, std::uint64_t) {};
  return calls;
}

// gnomon-sampler may be held up while a recording begins. looks_once_more: between two things that
// it does, so that it looks ahead though the recording has begun.
void expect_no_loss(bool looks_once_more) {
  std::uint64_t told = 0;
  CpuRests rests(getpid(), kSecond / 100, calls_that_add(told));
  rests.see_kernel();
  rests.look_ahead();
  const std::uint64_t begin = collector::now(CLOCK_MONOTONIC);
  const std::uint64_t used = collector::now(CLOCK_PROCESS_CPUTIME_ID);
  while (collector::now(CLOCK_PROCESS_CPUTIME_ID) < used + kSecond / 10) {
  }
  if (looks_once_more) rests.look_ahead();
  rests.skip(begin);
  rests.look(collector::now(CLOCK_MONOTONIC), true);
  rests.end(collector::now(CLOCK_MONOTONIC), {});
  const std::uint64_t all = collector::now(CLOCK_PROCESS_CPUTIME_ID) - used;
  EXPECT_GE(told + kSecond / 100, kSecond / 10);
  EXPECT_LE(told, all + kSecond / 100);
}

TEST(CpuRests, ABeginningThatIsSeenLateLosesNothing) {
  expect_no_loss(false);
  expect_no_loss(true);
}

TEST(CpuRests, WhatAThreadHasToldOfItselfIsNoLessThanWhatTheKernelShows) {
  const auto first = static_cast<std::uint32_t>(getpid());
  std::uint64_t told = 0, cpu = 0;
  CpuRests::Calls calls = calls_that_add(told);
  calls.end_of = [&](std::uint32_t thread) {
    return thread == first ? CpuRests::End{cpu, 0} : CpuRests::End{};
  };
  CpuRests rests(getpid(), kSecond / 100, calls);
  rests.see_kernel();
  rests.skip(collector::now(CLOCK_MONOTONIC));
  const std::uint64_t begin = collector::now(CLOCK_THREAD_CPUTIME_ID);
  cpu = begin + 10 * kSecond;
  rests.look(collector::now(CLOCK_MONOTONIC), true);
  rests.end(collector::now(CLOCK_MONOTONIC), {});
  EXPECT_GE(told, 10 * kSecond);
  EXPECT_LT(told, 11 * kSecond);
}

TEST(CpuRests, AThreadThatIsLeftOutIsToldOfNowhere) {
  constexpr std::uint32_t kOther = 1;  // no thread of this process
  const auto told_of = [&](bool is_left_out) {
    std::uint64_t told = 0;
    CpuRests::Calls calls = calls_that_add(told);
    calls.end_of = [](std::uint32_t thread) {
      return thread == kOther ? CpuRests::End{10 * kSecond, 0} : CpuRests::End{};
    };
    CpuRests rests(getpid(), kSecond / 100, calls);
    rests.see_kernel();
    rests.skip(collector::now(CLOCK_MONOTONIC));
    if (is_left_out) rests.leave_out(kOther);
    const std::uint64_t end = collector::now(CLOCK_MONOTONIC);
    rests.on_exit(kOther, end);
    EXPECT_EQ(rests.settle(end + 1), std::vector<std::uint32_t>{kOther});
    return told;
  };
  EXPECT_GE(told_of(false), 10 * kSecond);
  EXPECT_LT(told_of(true), kSecond);
}

}  // namespace
}  // namespace gnomon::outside
