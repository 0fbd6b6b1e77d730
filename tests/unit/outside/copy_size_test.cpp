#include "libcollector/outside/copy_size.h"

#include <gtest/gtest.h>

namespace gnomon::outside {
namespace {

constexpr std::size_t kSmallRing = 512 << 10, kLargeRing = 4 << 20;
constexpr std::uint64_t kMillisecond = 1'000'000;

TEST(CopySize, BeginsWithMoreTheLongerThePeriod) {
  EXPECT_EQ(CopySize(10 * kMillisecond).bytes(), 8192U);
  EXPECT_EQ(CopySize(kMillisecond).bytes(), 8192U);
  EXPECT_EQ(CopySize(kMillisecond / 2).bytes(), 4096U);
  EXPECT_EQ(CopySize(kMillisecond / 10).bytes(), 2048U);
}

TEST(CopySize, GrowsWhileStacksAreCutAndTheRingHasRoom) {
  CopySize size(kMillisecond);
  EXPECT_FALSE(size.adapt({1000, 1, 0}, kLargeRing)) << "one in a thousand";
  EXPECT_TRUE(size.adapt({1000, 2, 0}, kLargeRing));
  EXPECT_EQ(size.bytes(), 16384U);
  EXPECT_TRUE(size.adapt({1000, 500, 0}, kLargeRing));
  EXPECT_FALSE(size.adapt({1000, 500, 0}, kLargeRing)) << "32 KiB are the most";
  EXPECT_EQ(size.bytes(), 32768U);

  CopySize in_small_ring(kMillisecond);
  EXPECT_FALSE(in_small_ring.adapt({1000, 500, 0}, kSmallRing)) << "31 of 16 KiB fill half of it";
  CopySize seldom(10 * kMillisecond);
  EXPECT_TRUE(seldom.adapt({100, 50, 0}, kSmallRing));
}

TEST(CopySize, ShrinksForGoodWhenRecordsAreLost) {
  CopySize size(kMillisecond);
  EXPECT_TRUE(size.adapt({1000, 500, 2}, kLargeRing));
  EXPECT_EQ(size.bytes(), 4096U);
  EXPECT_FALSE(size.adapt({1000, 500, 0}, kLargeRing));
  EXPECT_TRUE(size.adapt({1000, 0, 1000}, kLargeRing));
  EXPECT_FALSE(size.adapt({1000, 0, 1000}, kLargeRing)) << "2 KiB are the least";
  EXPECT_EQ(size.bytes(), 2048U);
}

TEST(CopySize, StaysWhereTheKernelGivesNoOtherEvents) {
  CopySize size(kMillisecond);
  EXPECT_TRUE(size.adapt({1000, 500, 0}, kLargeRing));
  size.keep(8192);
  EXPECT_FALSE(size.adapt({1000, 500, 0}, kLargeRing));
  EXPECT_EQ(size.bytes(), 8192U);
}

}  // namespace
}  // namespace gnomon::outside
