// The rule that says where a thread may be borrowed.
#include "injector/attach/safe_point.h"

#include <gtest/gtest.h>

namespace {

using gnomon::injector::find_safe_point;
using gnomon::injector::Frame;
using gnomon::injector::SafePoint;
using Where = SafePoint::Where;

// 100-199: the program; 200-299: libc, of it 250-259 functions that only wait, 260-269 the loader;
// 300-399: a program with an allocator in it, in which nothing waits at 255-259.
SafePoint of(const std::vector<Frame>& frames, bool waits = false) {
  return find_safe_point(
      frames, waits,
      [](std::uint64_t pc, std::uint64_t callee, std::uint64_t) {
        if (pc >= 300 && callee != 0) return callee < 255 || callee >= 260;
        return pc >= 200;
      },
      [](std::uint64_t pc, std::uint64_t) { return pc >= 250 && pc < 260; },
      [](std::uint64_t pc) { return pc >= 260 && pc < 270; });
}

TEST(SafePoint, HereInTheProgram) {
  EXPECT_EQ(of({{110, true}, {120, false}}).where, Where::here);
  // A callback: what called it is as it would be for any call.
  EXPECT_EQ(of({{110, true}, {210, false}, {120, false}}).where, Where::here);
}

TEST(SafePoint, LaterWhereLibcReturns) {
  const SafePoint point = of({{210, true}, {220, false}, {120, false}, {130, false}});
  EXPECT_EQ(point.where, Where::later);
  EXPECT_EQ(point.address, 120u);
}

TEST(SafePoint, ReturnAddressesBelongToTheCall) {
  // The call is the last instruction of libc's (at 299), and of the program's (at 199).
  EXPECT_EQ(of({{210, true}, {300, false}, {200, false}}).address, 200u);
}

TEST(SafePoint, WaitsOnlyInSystemCalls) {
  const std::vector<Frame> frames = {{205, true}, {255, false}, {120, false}};
  EXPECT_EQ(of(frames, true).where, Where::here);
  EXPECT_EQ(of(frames, false).where, Where::later);
  // Not by what it calls, as malloc may.
  EXPECT_EQ(of({{255, true}, {210, false}, {120, false}}, true).where, Where::later);
}

TEST(SafePoint, BeyondAllThatSignalsInterrupted) {
  // A handler that interrupted malloc.
  EXPECT_EQ(of({{110, true}, {290, false}, {210, true}, {120, false}}).address, 120u);
  // In malloc itself, called by a handler that interrupted the program.
  EXPECT_EQ(of({{210, true}, {110, false}, {290, false}, {130, true}, {140, false}}).address, 110u);
  // Both: the outermost.
  const SafePoint both = of({{210, true}, {110, false}, {290, false}, {211, true}, {140, false}});
  EXPECT_EQ(both.where, Where::later);
  EXPECT_EQ(both.address, 140u);
  // A handler that interrupted a wait, or the program.
  EXPECT_EQ(of({{110, true}, {290, false}, {205, true}, {255, false}, {120, false}}).where,
            Where::here);
  EXPECT_EQ(of({{110, true}, {290, false}, {120, true}}).where, Where::here);
}

TEST(SafePoint, LaterThanAHandlerWithLocks) {
  const SafePoint point = of({{210, true}, {220, false}, {290, false}, {120, true}});
  EXPECT_EQ(point.where, Where::later);
  EXPECT_EQ(point.address, 120u);
  // It waits, and so does what it interrupted.
  EXPECT_EQ(
      of({{205, true}, {255, false}, {290, false}, {205, true}, {255, false}, {120, false}}, true)
          .where,
      Where::later);
  // It interrupted the program's handler.
  EXPECT_EQ(of({{210, true}, {290, false}, {110, true}, {290, false}, {120, true}}).address, 110u);
  // On its return.
  EXPECT_EQ(of({{290, true}, {120, true}, {130, false}}).where, Where::here);
  EXPECT_EQ(of({{290, true}, {210, true}, {130, false}}).where, Where::later);
}

TEST(SafePoint, InAProgramWithItsAllocatorWhereThatNeverIs) {
  EXPECT_EQ(of({{310, true}, {320, false}, {210, false}}).where, Where::nowhere);
  EXPECT_EQ(of({{205, true}, {251, false}, {320, false}, {210, false}}, true).where,
            Where::nowhere);
  EXPECT_EQ(of({{205, true}, {256, false}, {320, false}, {210, false}}, true).where, Where::here);
  const SafePoint after = of({{205, true}, {256, false}, {320, false}, {210, false}});
  EXPECT_EQ(after.where, Where::later);
  EXPECT_EQ(after.address, 320u);
  // Its handler waits, but what that interrupted may be anything.
  EXPECT_NE(
      of({{205, true}, {256, false}, {320, false}, {290, false}, {330, true}, {210, false}}, true)
          .where,
      Where::here);
}

TEST(SafePoint, TellsOfHandlers) {
  EXPECT_FALSE(of({{110, true}, {120, false}}).is_in_handler);
  EXPECT_TRUE(of({{110, true}, {290, false}, {120, true}}).is_in_handler);
  EXPECT_TRUE(of({{290, true}, {120, true}}).is_in_handler);
}

TEST(SafePoint, TellsWhatTheLoaderCalls) {
  EXPECT_FALSE(of({{110, true}, {210, false}, {120, false}}).is_under_loader);
  const SafePoint point = of({{110, true}, {265, false}, {120, false}});
  EXPECT_EQ(point.where, Where::here);
  EXPECT_TRUE(point.is_under_loader);
}

TEST(SafePoint, NowhereWithoutACaller) {
  EXPECT_EQ(of({}).where, Where::nowhere);
  EXPECT_EQ(of({{210, true}, {220, false}}).where, Where::nowhere);
  EXPECT_EQ(of({{110, true}, {290, false}, {210, true}}).where, Where::nowhere);
}

}  // namespace
