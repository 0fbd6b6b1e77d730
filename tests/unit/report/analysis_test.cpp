// An analysis that stays open: what is new is read, and only that.
#include "reader/analysis/analysis_cache.h"

#include "reader/report/asked/report.h"
#include "reader/report/notes/losses.h"
#include "tests/unit/experiment/written.h"

using namespace gnomon;

namespace {

class Analyses : public test::Written {
 protected:
  reader::Analysis* get() {
    const auto analysis = cache_.get({directory_.path()}, {}, {}, {});
    EXPECT_TRUE(analysis) << analysis.error().what;
    return analysis ? *analysis : nullptr;
  }
  std::uint64_t total_of_functions() {
    const auto table = reader::functions_report(*get(), {});
    EXPECT_TRUE(table);
    return table ? std::get<Nanoseconds>(table->rows.at(0).at(0)).value : 0;
  }

  reader::AnalysisCache cache_;
};

TEST_F(Analyses, EachEventIsVisitedOnce) {
  auto recording = reader::Recording::open(directory_.path());
  ASSERT_TRUE(recording);
  std::uint64_t visits = 0;
  const auto look = [&] {
    visits = 0;
    const auto any = recording->update({}, [&](const reader::Event&) -> Result<void> {
      ++visits;
      return {};
    });
    EXPECT_TRUE(any);
    return any && *any;
  };
  EXPECT_FALSE(look());
  for (int round = 1; round < 400; round *= 3) {
    for (int i = 0; i < round; ++i) sample(0x1200, 1);
    EXPECT_TRUE(look());
    EXPECT_EQ(visits, static_cast<std::uint64_t>(round));
    EXPECT_FALSE(look());
  }
  for (int i = 0; i < 5; ++i) sample(0x1300, 1);
  recorder_->end(2000, 5000);
  EXPECT_TRUE(look());
  EXPECT_EQ(visits, 5u);
  EXPECT_FALSE(look());
}

TEST_F(Analyses, ReportsFollowTheRecording) {
  sample(0x1200, 10);
  reader::Analysis* const first = get();
  EXPECT_EQ(total_of_functions(), 10u);
  const reader::Profile* const profile = *first->profile({});
  EXPECT_EQ(*get()->profile({}), profile);
  sample(0x1400, 5);
  EXPECT_EQ(get(), first);
  EXPECT_EQ(total_of_functions(), 15u);
  recorder_->end(2000, 5000);
  EXPECT_EQ(total_of_functions(), 15u);
  EXPECT_EQ(get(), first);
}

TEST_F(Analyses, SampledThreadsAreKnown) {
  ASSERT_TRUE(test::record(*recorder_, {0x1200, 0x1100}, 10, 7));
  reader::Analysis* const analysis = get();
  ASSERT_TRUE(analysis);
  EXPECT_TRUE(analysis->first().has_sampled(7));
  EXPECT_FALSE(analysis->first().has_sampled(8));
}

TEST_F(Analyses, ARequestThatGnomonSamplerHasNotCarriedOutIsTold) {
  sample(0x1200, 10);
  const auto is_told = [&] {
    reader::Analysis* const analysis = get();
    const auto notes = reader::loss_notes(*analysis, nullptr);
    return std::any_of(notes.begin(), notes.end(), [](const std::string& note) {
      return note.starts_with("gnomon-sampler has not answered yet");
    });
  };
  EXPECT_FALSE(is_told());
  recorder_->control()->mailbox.sequence = 2;
  EXPECT_TRUE(is_told());
  recorder_->control()->mailbox.answered = 2;
  EXPECT_FALSE(is_told());
}

TEST_F(Analyses, AnInterruptionLeavesNothingHalfDone) {
  sample(0x1200, 10);
  reader::Analysis* const analysis = get();
  ASSERT_TRUE(analysis);
  EXPECT_FALSE(analysis->profile(Interrupt([] { return true; })));
  EXPECT_TRUE(analysis->is_spent());
  EXPECT_EQ(total_of_functions(), 10u);
}

TEST_F(Analyses, ADirectoryWrittenAnewIsReadAnew) {
  sample(0x1200, 10);
  EXPECT_EQ(total_of_functions(), 10u);
  munmap(recorder_, sizeof(collector::Recorder));
  for (const auto& file : std::filesystem::directory_iterator(directory_.path()))
    std::filesystem::remove(file);
  recorder_ = test::new_recorder();
  ASSERT_TRUE(recorder_);
  ASSERT_TRUE(test::begin_experiment(directory_, *recorder_, 2,
                                     test::header_line(format::kFormatMajor, 2)));
  sample(0x1200, 3);
  EXPECT_EQ(total_of_functions(), 3u);
}

}  // namespace
