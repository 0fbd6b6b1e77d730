// By how much the clock of a time namespace is ahead: what /proc/PID/timens_offsets may say.
#include "libcollector/core/machine_time.h"

#include <gtest/gtest.h>

#include "libcollector/core/time.h"
#include "reader/base/clock.h"

using gnomon::collector::monotonic_ahead_in;

namespace {

TEST(MachineTime, Offsets) {
  EXPECT_EQ(
      monotonic_ahead_in("monotonic           0         0\nboottime            0         0\n"), 0);
  EXPECT_EQ(
      monotonic_ahead_in("monotonic      100000         7\nboottime            9         9\n"),
      100'000'000'000'007);
  // The kernel gives the nanoseconds of a negative time as a positive number.
  EXPECT_EQ(
      monotonic_ahead_in("monotonic        -101 500000000\nboottime            0         0\n"),
      -100'500'000'000);
  EXPECT_EQ(
      monotonic_ahead_in("boottime            9         9\nmonotonic           2         0\n"),
      2'000'000'000);
  for (const char* nothing : {"", "monotonic", "monotonic x y", "boottime 1 1"})
    EXPECT_EQ(monotonic_ahead_in(nothing), 0) << nothing;
}

TEST(MachineTime, ReaderAndCollectorAgree) {
  gnomon::collector::adopt_machine_time();
  const std::uint64_t before = gnomon::collector::now(CLOCK_MONOTONIC);
  const std::uint64_t at = gnomon::monotonic_now();
  EXPECT_LE(before, at);
  EXPECT_LE(at, gnomon::collector::now(CLOCK_MONOTONIC));
}

}  // namespace
