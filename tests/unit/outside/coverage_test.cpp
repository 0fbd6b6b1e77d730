#include "libcollector/outside/coverage.h"

#include <gtest/gtest.h>

namespace gnomon::outside {
namespace {

constexpr std::uint32_t kMaker = 10, kMade = 11, kMadeLater = 12;
constexpr std::uint64_t kMakersEvent = 100, kMadesEvent = 101, kForeign = 999;

// The maker's events were open when it made the thread on which others were then opened.
class CoverageTest : public testing::Test {
 protected:
  CoverageTest() {
    coverage.add_event(coverage.add_root(kMaker), kMakersEvent);
    coverage.add_event(coverage.add_root(kMade), kMadesEvent);
  }
  bool counts(std::uint64_t event, std::uint32_t thread) {
    const auto judged = coverage.judge(event, thread);
    given_up = judged.given_up;
    return judged.counts;
  }
  Coverage coverage;
  std::optional<std::size_t> given_up;
};

TEST_F(CoverageTest, OfThreadsThatHaveInheritedNothingStays) {
  EXPECT_TRUE(counts(kMakersEvent, kMaker));
  EXPECT_TRUE(counts(kMadesEvent, kMade));
  EXPECT_TRUE(counts(kMakersEvent, kMadeLater)) << "it has inherited these, and no others";
  EXPECT_TRUE(counts(kForeign, kMade));
  EXPECT_FALSE(given_up);
  EXPECT_FALSE(coverage.has_given_up());
}

TEST_F(CoverageTest, GivesUpWhatWasOpenedOnAnHeir) {
  EXPECT_TRUE(counts(kMadesEvent, kMade));
  EXPECT_TRUE(counts(kMakersEvent, kMade));
  ASSERT_EQ(given_up, std::optional<std::size_t>(1));
  EXPECT_FALSE(counts(kMadesEvent, kMade)) << "what is still in the ring";
  EXPECT_TRUE(counts(kMakersEvent, kMade));
  EXPECT_FALSE(given_up) << "once";
}

TEST_F(CoverageTest, KnowsAnHeirByItsFirstInheritedSample) {
  EXPECT_TRUE(counts(kMakersEvent, kMade));
  EXPECT_EQ(given_up, std::optional<std::size_t>(1));
}

TEST_F(CoverageTest, KnowsAnHeirOfBothAfterTheEndOfItsMaker) {
  coverage.on_thread_end(kMade);
  EXPECT_TRUE(counts(kMakersEvent, kMadeLater));
  EXPECT_FALSE(given_up);
  EXPECT_FALSE(counts(kMadesEvent, kMadeLater)) << "the later of the two";
  EXPECT_EQ(given_up, std::optional<std::size_t>(1));
}

TEST_F(CoverageTest, TakesAnotherThreadOfTheSameNumberForAnother) {
  EXPECT_TRUE(counts(kMadesEvent, kMade));
  coverage.on_thread_end(kMade);
  EXPECT_TRUE(counts(kMakersEvent, kMade));
  EXPECT_FALSE(given_up);
}

}  // namespace
}  // namespace gnomon::outside
