// Function times: the worked example and recursion.
#include "reader/metrics/functions.h"

#include <gtest/gtest.h>

#include <map>

using namespace gnomon;
using namespace gnomon::reader;

namespace {

constexpr FunctionId kMain{0}, kA{1}, kB{2}, kC{3}, kD{4}, kE{5};

struct Expected {
  std::uint64_t exclusive, inclusive;
};

std::map<std::uint32_t, Expected> times_of(const std::vector<WeightedStack>& stacks) {
  FunctionTimes times;
  for (const WeightedStack& stack : stacks) times.add(stack);
  std::map<std::uint32_t, Expected> result;
  for (const FunctionTime& t : std::move(times).take())
    result[index(t.function)] = {t.exclusive.value, t.inclusive.value};
  return result;
}

// main spends 2 and calls A, which only calls C, and B, which spends 5 and calls C; C spends 5
// under B and calls D and E, 10 each.
TEST(FunctionTimes, WorkedExample) {
  auto t = times_of({{{kMain}, {2}},
                     {{kD, kC, kA, kMain}, {10}},
                     {{kB, kMain}, {5}},
                     {{kC, kB, kMain}, {5}},
                     {{kE, kC, kB, kMain}, {10}}});
  EXPECT_EQ(t[0].inclusive, 32u);
  EXPECT_EQ(t[0].exclusive, 2u);
  EXPECT_EQ(t[1].inclusive, 10u);
  EXPECT_EQ(t[1].exclusive, 0u);
  EXPECT_EQ(t[2].inclusive, 20u);
  EXPECT_EQ(t[2].exclusive, 5u);
  EXPECT_EQ(t[3].inclusive, 25u);
  EXPECT_EQ(t[3].exclusive, 5u);
}

TEST(FunctionTimes, RecursionCountsOnceAStack) {
  auto t = times_of({{{kA, kA, kB, kA, kMain}, {7}}, {{kA, kMain}, {3}}});
  EXPECT_EQ(t[1].inclusive, 10u);
  EXPECT_EQ(t[1].exclusive, 10u);
  EXPECT_EQ(t[2].inclusive, 7u);
  EXPECT_EQ(t[2].exclusive, 0u);
  EXPECT_EQ(t[0].inclusive, 10u);
}

TEST(FunctionTimes, WithoutTimeIsLeftOut) { EXPECT_TRUE(times_of({{{kA}, {0}}}).empty()); }

}  // namespace
