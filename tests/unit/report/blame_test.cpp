#include "reader/report/traced/blame.h"

#include <gtest/gtest.h>

using namespace gnomon;
using reader::Blame;
using reader::Blamed;
using reader::RecordedWait;

namespace {

constexpr std::uint32_t kMutex = static_cast<std::uint32_t>(format::WaitKind::mutex);

RecordedWait wait_of(std::uint64_t begin, std::uint64_t end, std::uint32_t thread,
                     std::uint32_t holder, std::uint32_t stack) {
  return {begin, end, 0x1000, kMutex, thread, holder, stack, true};
}

std::map<Blame, std::uint64_t> shares_of(const reader::ThreadPasts& pasts,
                                         std::initializer_list<RecordedWait> waits) {
  reader::BlameSum sum(pasts);
  for (const RecordedWait& wait : waits) sum.add(wait);
  auto shares = sum.shares();
  std::uint64_t time = 0, charged = 0;
  for (const RecordedWait& wait : waits) time += wait.end - wait.begin;
  for (const auto& [blame, share] : shares) charged += share;
  EXPECT_EQ(charged, time);
  return shares;
}

using Shares = std::map<Blame, std::uint64_t>;

// The holder's samples within the wait, no more than the wait; the rest it was not on a CPU.
TEST(Blame, Ran) {
  reader::ThreadPasts pasts;
  pasts[2].samples = {{90, 10, 7}, {110, 10, 7}, {120, 10, 8}, {160, 10, 8}};
  EXPECT_EQ(
      shares_of(pasts, {wait_of(100, 150, 1, 2, 5)}),
      (Shares{
          {{Blamed::ran, 2, 7}, 10}, {{Blamed::ran, 2, 8}, 10}, {{Blamed::off_cpu, 0, 0}, 30}}));
  // A sample's weight may reach back to before the wait.
  pasts[2].samples = {{110, 40, 7}, {120, 40, 8}};
  EXPECT_EQ(shares_of(pasts, {wait_of(100, 140, 1, 2, 5)}),
            (Shares{{{Blamed::ran, 2, 7}, 20}, {{Blamed::ran, 2, 8}, 20}}));
}

// The kernel counts what the holder did off a CPU: a stretch of which half is of that state lies
// evenly in its time. The rest the holder ran.
TEST(Blame, Rested) {
  using format::ThreadState;
  reader::ThreadPasts pasts;
  pasts[2].rests = {{0, 90, 90, ThreadState::sleep, 6},
                    {80, 120, 20, ThreadState::sleep, 7},
                    {120, 140, 20, ThreadState::other_wait, 8},
                    {140, 145, 5, ThreadState::wait_cpu, 9}};
  EXPECT_EQ(shares_of(pasts, {wait_of(100, 200, 1, 2, 5)}),
            (Shares{{{Blamed::slept, 2, 7}, 10},
                    {{Blamed::waited_in, 2, 8}, 20},
                    {{Blamed::wanted_cpu, 2, 0}, 5},
                    {{Blamed::too_short, 0, 0}, 65}}));
  pasts[2].samples = {{190, 100, 3}};
  EXPECT_EQ(shares_of(pasts, {wait_of(120, 200, 1, 2, 5)}), (Shares{{{Blamed::waited_in, 2, 8}, 20},
                                                                    {{Blamed::wanted_cpu, 2, 0}, 5},
                                                                    {{Blamed::ran, 2, 3}, 55}}));
}

// Thread 2 waits itself for thread 3, and that for one of which nothing is known.
TEST(Blame, Chain) {
  reader::ThreadPasts pasts;
  pasts[2].waits = {wait_of(0, 20, 2, 3, 6), wait_of(110, 140, 2, 3, 6)};
  pasts[3].waits = {wait_of(100, 120, 3, 0, 9)};
  pasts[3].samples = {{130, 10, 4}, {150, 10, 4}};
  EXPECT_EQ(
      shares_of(pasts, {wait_of(100, 150, 1, 2, 5)}),
      (Shares{
          {{Blamed::waited, 3, 9}, 10}, {{Blamed::ran, 3, 4}, 10}, {{Blamed::off_cpu, 0, 0}, 30}}));
}

TEST(Blame, Unknown) {
  const reader::ThreadPasts pasts;
  EXPECT_EQ(shares_of(pasts, {wait_of(100, 150, 1, 0, 5), wait_of(100, 110, 1, 2, 5)}),
            (Shares{{{Blamed::unknown, 0, 0}, 60}}));
}

// Threads that wait for each other in a circle, until the time is over.
TEST(Blame, Circle) {
  reader::ThreadPasts pasts;
  pasts[1].waits = {wait_of(100, 200, 1, 2, 5)};
  pasts[2].waits = {wait_of(100, 200, 2, 1, 6)};
  const auto shares = shares_of(pasts, {pasts[1].waits[0]});
  EXPECT_EQ(shares.size(), 1u);
  EXPECT_EQ(shares.begin()->first.what, Blamed::waited);
}

}  // namespace
