// Metrics of functions: exclusive, inclusive, attributed; the worked example and recursion.
#include "reader/metrics/functions.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

#include "reader/metrics/attributed.h"

using namespace gnomon;
using namespace gnomon::reader;

namespace {

constexpr FunctionId kTotal{0}, kMain{1}, kA{2}, kB{3}, kC{4}, kD{5}, kE{6};

// One call stack that occurred: its functions, leaf first, and its value.
struct Weighted {
  std::vector<FunctionId> frames;
  std::uint64_t value;
};

struct Metrics {
  FunctionValues functions;
  std::vector<Neighbours> around;

  std::uint64_t exclusive(FunctionId f) const { return functions.exclusive[index(f)]; }
  std::uint64_t inclusive(FunctionId f) const { return functions.inclusive[index(f)]; }
};

Metrics metrics_of(const std::vector<Weighted>& stacks) {
  std::vector<Frame> frames{{0, Frame::kNone}};
  std::vector<std::pair<std::size_t, std::uint64_t>> leaves;
  for (const Weighted& stack : stacks) {
    std::uint32_t caller = 0;
    for (auto function = stack.frames.rbegin(); function != stack.frames.rend(); ++function) {
      frames.push_back({caller, *function});
      caller = static_cast<std::uint32_t>(frames.size() - 1);
    }
    leaves.push_back({caller, stack.value});
  }
  LargeVector<CallId> place;
  const CallTree tree(kTotal, frames, place);
  Values exclusive(tree.size());
  for (const auto& [frame, value] : leaves) exclusive[index(place[frame])] += value;
  const Values inclusive = inclusive_by_node(tree, exclusive);
  return {by_function(tree, exclusive, inclusive), neighbours(tree, inclusive)};
}

std::map<std::uint32_t, std::uint64_t> values(const std::vector<Attributed>& edges) {
  std::map<std::uint32_t, std::uint64_t> result;
  for (const Attributed& edge : edges) result[index(edge.function)] = edge.value;
  return result;
}

// main spends 2 and calls A, which only calls C, and B, which spends 5 and calls C; C spends 5
// under B and calls D and E, 10 each.
std::vector<Weighted> worked_example() {
  return {{{kMain}, 2},
          {{kD, kC, kA, kMain}, 10},
          {{kB, kMain}, 5},
          {{kC, kB, kMain}, 5},
          {{kE, kC, kB, kMain}, 10}};
}

TEST(Metrics, WorkedExample) {
  const Metrics m = metrics_of(worked_example());
  EXPECT_EQ(m.inclusive(kMain), 32u);
  EXPECT_EQ(m.exclusive(kMain), 2u);
  EXPECT_EQ(m.inclusive(kA), 10u);
  EXPECT_EQ(m.exclusive(kA), 0u);
  EXPECT_EQ(m.inclusive(kB), 20u);
  EXPECT_EQ(m.exclusive(kB), 5u);
  EXPECT_EQ(m.inclusive(kC), 25u);
  EXPECT_EQ(m.exclusive(kC), 5u);
  EXPECT_EQ(m.inclusive(kTotal), 32u);
  EXPECT_EQ(m.exclusive(kTotal), 0u);
}

TEST(Metrics, WorkedExampleAttributed) {
  using Edges = std::map<std::uint32_t, std::uint64_t>;
  const Metrics m = metrics_of(worked_example());
  const auto callers = [&](FunctionId f) { return values(m.around[index(f)].callers); };
  const auto callees = [&](FunctionId f) { return values(m.around[index(f)].callees); };
  EXPECT_EQ(callers(kC), (Edges{{index(kA), 10}, {index(kB), 15}}));
  EXPECT_EQ(callees(kC), (Edges{{index(kD), 10}, {index(kE), 10}}));
  EXPECT_EQ(callees(kMain), (Edges{{index(kA), 10}, {index(kB), 20}}));
  EXPECT_EQ(callers(kMain), (Edges{{index(kTotal), 32}}));
  EXPECT_EQ(callees(kTotal), (Edges{{index(kMain), 32}}));
  EXPECT_TRUE(callers(kTotal).empty());
}

TEST(Metrics, RecursionCountsOnceAStack) {
  const Metrics m = metrics_of({{{kA, kA, kB, kA, kMain}, 7}, {{kA, kMain}, 3}});
  EXPECT_EQ(m.inclusive(kA), 10u);
  EXPECT_EQ(m.exclusive(kA), 10u);
  EXPECT_EQ(m.inclusive(kB), 7u);
  EXPECT_EQ(m.exclusive(kB), 0u);
  EXPECT_EQ(m.inclusive(kMain), 10u);
}

// All the work is in the innermost call: the function is its own caller, its first caller has
// nothing of it there, and attributes to it as a callee all the same.
TEST(Metrics, RecursionIsAttributedToTheInnermostCall) {
  using Edges = std::map<std::uint32_t, std::uint64_t>;
  const Metrics m = metrics_of({{{kB, kA, kA, kA, kMain}, 7}});
  EXPECT_EQ(values(m.around[index(kA)].callers), (Edges{{index(kMain), 0}, {index(kA), 7}}));
  EXPECT_EQ(values(m.around[index(kA)].callees), (Edges{{index(kA), 0}, {index(kB), 7}}));
  EXPECT_EQ(values(m.around[index(kMain)].callees), (Edges{{index(kA), 7}}));
}

// The rules of the tree against those of single stacks, on stacks that recur in every way.
TEST(Metrics, RandomStacks) {
  std::mt19937 random(7);
  std::vector<Weighted> stacks(3000);
  std::map<std::uint32_t, std::uint64_t> inclusive;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t> callers, callees;
  for (Weighted& stack : stacks) {
    stack.value = random() % 100 + 1;
    stack.frames.resize(random() % 8 + 1);
    for (FunctionId& frame : stack.frames)
      frame = FunctionId{static_cast<std::uint32_t>(random() % 5 + 1)};
    std::map<std::uint32_t, bool> seen;
    for (std::size_t i = 0; i < stack.frames.size(); ++i) {
      const std::uint32_t f = index(stack.frames[i]);
      if (std::exchange(seen[f], true)) continue;
      inclusive[f] += stack.value;
      const bool outermost = i + 1 == stack.frames.size();
      callers[{f, index(outermost ? kTotal : stack.frames[i + 1])}] += stack.value;
      if (i > 0) callees[{f, index(stack.frames[i - 1])}] += stack.value;
    }
  }
  const Metrics m = metrics_of(stacks);
  for (std::uint32_t f = 1; f <= 5; ++f) {
    EXPECT_EQ(m.functions.inclusive[f], inclusive[f]);
    std::uint64_t by_callers = 0, by_callees = m.functions.exclusive[f];
    for (const auto& [other, value] : values(m.around[f].callers)) {
      EXPECT_EQ(value, (callers[{f, other}])) << f << " from " << other;
      by_callers += value;
    }
    for (const auto& [other, value] : values(m.around[f].callees)) {
      EXPECT_EQ(value, (callees[{f, other}])) << f << " to " << other;
      by_callees += value;
    }
    EXPECT_EQ(by_callers, inclusive[f]);
    EXPECT_EQ(by_callees, inclusive[f]);
  }
}

}  // namespace
