// Looks at the mask of a thread that runs: which of them speak for it.
#include "libcollector/core/mask_looks.h"

#include <gtest/gtest.h>

namespace gnomon::collector {
namespace {

TEST(MaskLooks, AreEnoughOnceTheThreadHasRunBetweenThem) {
  MaskLooks looks;
  std::uint64_t cpu = 7'000'000;
  for (std::uint32_t i = 0; i < MaskLooks::kEnough; ++i, cpu += MaskLooks::kApart) {
    EXPECT_FALSE(looks.are_enough());
    EXPECT_TRUE(looks.add(3, cpu));
  }
  EXPECT_TRUE(looks.are_enough());
}

TEST(MaskLooks, OfAThreadThatStandsStillAreOne) {
  MaskLooks looks;
  EXPECT_TRUE(looks.add(3, 100'000));
  for (int i = 0; i < 1000; ++i) EXPECT_FALSE(looks.add(3, 100'000 + MaskLooks::kApart - 1));
  EXPECT_EQ(looks.count, 1u);
}

TEST(MaskLooks, BeginAgainAfterAWait) {
  MaskLooks looks;
  std::uint64_t cpu = 0;
  for (std::uint32_t i = 1; i < MaskLooks::kEnough; ++i) looks.add(3, cpu += MaskLooks::kLong);
  EXPECT_TRUE(looks.show_long_run());
  EXPECT_TRUE(looks.add(4, cpu));  // even if it has not run since
  EXPECT_EQ(looks.count, 1u);
  EXPECT_FALSE(looks.are_enough());
  EXPECT_FALSE(looks.show_long_run());
  looks.add(4, cpu + MaskLooks::kLong);
  EXPECT_TRUE(looks.show_long_run());
}

}  // namespace
}  // namespace gnomon::collector
