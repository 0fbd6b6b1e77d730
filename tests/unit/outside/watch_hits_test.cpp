// Which ticks of the clock a watch has held up.
#include "libcollector/outside/watch_hits.h"

#include <gtest/gtest.h>

#include "libcollector/format/watches.h"
#include "libcollector/outside/breakpoint_trial.h"

namespace gnomon {
namespace {

outside::Sample sample_at(std::uint64_t place, std::uint64_t time, std::uint32_t thread = 7) {
  outside::Sample sample;
  sample.origin.thread = thread;
  sample.origin.time = time;
  sample.has_registers = true;
  sample.registers[collector::kSavedRip] = place;
  return sample;
}

TEST(WatchHits, TickBehindAHitIsTheWatchs) {
  outside::WatchHits hits;
  EXPECT_FALSE(hits.holds(sample_at(0x1000, 500)));
  hits.note(sample_at(0x1000, 500), 13'000);
  EXPECT_TRUE(hits.holds(sample_at(0x1000, 500)));
  EXPECT_TRUE(hits.holds(sample_at(0x1000, 26'500)));
  EXPECT_FALSE(hits.holds(sample_at(0x1004, 600))) << "the program has gone on";
  EXPECT_FALSE(hits.holds(sample_at(0x1000, 26'501))) << "it is there again, without a hit";
  EXPECT_FALSE(hits.holds(sample_at(0x1000, 499)));
  EXPECT_FALSE(hits.holds(sample_at(0x1000, 600, 8))) << "another thread";
  hits.on_thread_end(7);
  EXPECT_FALSE(hits.holds(sample_at(0x1000, 600)));
}

TEST(WatchHits, CostIsGuessedWhereItIsNotKnown) {
  outside::WatchHits hits;
  hits.note(sample_at(0x1000, 500), 0);
  EXPECT_TRUE(hits.holds(sample_at(0x1000, 20'500)));
  EXPECT_FALSE(hits.holds(sample_at(0x1000, 20'501)));
}

TEST(WatchHits, AnswerHasNumberAndCost) {
  const auto begun = format::watch_begun_in(format::watch_answer({3, 13'200, 9100}));
  EXPECT_EQ(begun.number, 3u);
  EXPECT_EQ(begun.sampled, 13'200u);
  EXPECT_EQ(begun.counted, 9100u);
  EXPECT_EQ(format::watch_begun_in("#12").number, 12u);
  EXPECT_EQ(format::watch_begun_in("#12").sampled, 0u);
  EXPECT_EQ(format::watch_begun_in("nothing of that number is watched").number, 0u);
}

// A cost that is told was measured, and a machine whose registers do not work tells none.
TEST(WatchHits, TrialMeasuresAHit) {
  const outside::BreakpointTrial& trial = outside::breakpoint_trial();
  if (!trial.do_work) {
    EXPECT_EQ(trial.sampled, 0u);
    EXPECT_EQ(trial.counted, 0u);
  } else if (trial.counted != 0) {
    EXPECT_GT(trial.counted, 100u);
    EXPECT_LT(trial.counted, 10'000'000u);
  }
}

}  // namespace
}  // namespace gnomon
