#include "libcollector/outside/copy_size.h"

#include <gtest/gtest.h>

namespace gnomon::outside {
namespace {

constexpr std::size_t kSmallRing = 512 << 10, kLargeRing = 4 << 20;
constexpr std::uint64_t kMillisecond = 1'000'000;

TEST(CopySize, BeginsWithWhatTheRingHolds) {
  EXPECT_EQ(CopySize(10 * kMillisecond, kLargeRing).bytes(), 65528U);
  EXPECT_EQ(CopySize(10 * kMillisecond, kSmallRing).bytes(), 32768U);
  EXPECT_EQ(CopySize(kMillisecond, 2 * kLargeRing).bytes(), 65528U);
  EXPECT_EQ(CopySize(kMillisecond, kLargeRing).bytes(), 32768U) << "so much for 120 ms";
  EXPECT_EQ(CopySize(kMillisecond, kSmallRing).bytes(), 8192U);
  EXPECT_EQ(CopySize(kMillisecond / 10, kLargeRing).bytes(), 4096U);
  EXPECT_EQ(CopySize(kMillisecond / 10, kSmallRing).bytes(), 2048U) << "the least";
  EXPECT_EQ(CopySize(0, kSmallRing).bytes(), 8192U) << "no clock";
}

TEST(CopySize, GivesLessToEventsOfTheProgramsOwnNumber) {
  EXPECT_EQ(CopySize(10 * kMillisecond, kLargeRing).bytes_of_others(), 8192U);
  EXPECT_EQ(CopySize(kMillisecond / 10, kLargeRing).bytes_of_others(), 4096U);
}

TEST(CopySize, GrowsWhileStacksAreCutAndTheRingHasRoom) {
  CopySize size(10 * kMillisecond, kSmallRing);
  EXPECT_FALSE(size.adapt({1000, 1, 0})) << "one in a thousand";
  EXPECT_TRUE(size.adapt({1000, 2, 0}));
  EXPECT_EQ(size.bytes(), 65528U);
  EXPECT_FALSE(size.adapt({1000, 500, 0})) << "the kernel copies no more";

  CopySize dense(kMillisecond, kSmallRing);
  EXPECT_FALSE(dense.adapt({1000, 500, 0})) << "31 of 16 KiB fill nearly all of it";
  EXPECT_EQ(dense.bytes(), 8192U);
}

TEST(CopySize, ShrinksOnceToWhatStacksUseIfCopiesAreMany) {
  CopySize size(kMillisecond, kLargeRing);
  EXPECT_FALSE(size.adapt({499, 0, 0, 5000})) << "not yet half a second";
  EXPECT_TRUE(size.adapt({1, 0, 0, 300}));
  EXPECT_EQ(size.bytes(), 16384U);
  EXPECT_FALSE(size.adapt({1000, 0, 0, 300}));
  EXPECT_TRUE(size.adapt({1000, 2, 0, 16000}));
  EXPECT_EQ(size.bytes(), 32768U);
  CopySize deep(kMillisecond, kLargeRing);
  EXPECT_FALSE(deep.adapt({1000, 0, 0, 16385}));
  CopySize seldom(10 * kMillisecond, kLargeRing);
  EXPECT_FALSE(seldom.adapt({1000, 0, 0, 300}));
}

TEST(CopySize, ShrinksForGoodWhenRecordsAreLost) {
  CopySize size(kMillisecond, kSmallRing);
  EXPECT_TRUE(size.adapt({1000, 500, 2}));
  EXPECT_EQ(size.bytes(), 4096U);
  EXPECT_FALSE(size.adapt({1000, 500, 0}));
  EXPECT_TRUE(size.adapt({1000, 0, 1000}));
  EXPECT_FALSE(size.adapt({1000, 0, 1000})) << "2 KiB are the least";
  EXPECT_EQ(size.bytes(), 2048U);
  CopySize most(10 * kMillisecond, kLargeRing);
  EXPECT_TRUE(most.adapt({1000, 0, 2}));
  EXPECT_EQ(most.bytes(), 32768U);
}

TEST(CopySize, StaysWhereTheKernelGivesNoOtherEvents) {
  CopySize size(10 * kMillisecond, kSmallRing);
  EXPECT_TRUE(size.adapt({1000, 500, 0}));
  size.keep(32768);
  EXPECT_FALSE(size.adapt({1000, 500, 0}));
  EXPECT_EQ(size.bytes(), 32768U);
}

}  // namespace
}  // namespace gnomon::outside
