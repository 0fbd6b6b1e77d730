// An experiment written by the recorder, read back: whole, while it grows, in a fork child.
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "tests/unit/experiment/written.h"
#include "tests/unit/report/reports.h"

using namespace gnomon;
using namespace gnomon::test;

namespace {

TEST_F(Written, ReadableAtEveryMoment) {
  EXPECT_EQ(total().value_or(99), 0u);
  for (std::uint64_t i = 1; i <= 5000; ++i) {  // ten blocks
    sample(0x1200 + i % 10, 1);
    if (i % 500 == 0) {
      EXPECT_EQ(total().value_or(0), i);
    }
  }
  recorder_->end(2000, 5000);
  EXPECT_EQ(total().value_or(0), 5000u);
}

TEST_F(Written, EqualStacksAreOneNode) {
  for (int i = 0; i < 20000; ++i) sample(0x1200 + static_cast<std::uint64_t>(i % 7000), 1);
  const auto all = test::read_all(directory_.path());
  ASSERT_TRUE(all);
  const reader::Stacks& stacks = all->recording.stacks();
  std::size_t distinct = 0;
  for (std::uint32_t id = 0; id < all->sums.used().size(); ++id) {
    if (!all->sums.used()[id]) continue;
    ++distinct;
    ASSERT_TRUE(stacks.contains(StackId{id}));
    EXPECT_EQ(stacks.node(stacks.parent(StackId{id})).pc, 0x1100u);
  }
  EXPECT_EQ(distinct, 7000u);
}

// Wherever it is asked first, the answer is the same; the last ask comes after all is read.
TEST_F(Written, WorkThatIsInterruptedEnds) {
  for (int i = 0; i < 5000; ++i) sample(0x1200 + static_cast<std::uint64_t>(i), 1);
  int asks = 0;
  for (int patience = 0; patience < 1000; ++patience) {
    asks = 0;
    reader::View view;
    view.interrupt = Interrupt([&] { return asks++ >= patience; });
    const auto table = functions_of(directory_.path(), view);
    if (table) break;
    EXPECT_EQ(table.error().what.find("interrupted"), 0u) << table.error().what;
    EXPECT_LE(asks, patience + 3);
  }
  EXPECT_GT(asks, 5);
  EXPECT_LT(asks, 1000);
}

TEST_F(Written, ForkedChildRecordsNothing) {
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    recorder_->end(1, 1);
    _exit(recorder_->recording() ? 1 : 0);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(recorder_->recording());
  EXPECT_FALSE(reader::open_experiment(directory_.path())->closed);
}

TEST_F(Written, FailureStaysVisible) {
  recorder_->fail(format::Failure::no_space, ENOSPC);
  recorder_->end(2000, 1);
  auto table = functions_of(directory_.path());
  ASSERT_TRUE(table);
  ASSERT_FALSE(table->notes.empty());
  EXPECT_NE(table->notes[0].find("file system of the experiment is full"), std::string::npos);
}

TEST_F(Written, NothingIsAddedOnceItIsClosed) {
  std::atomic<std::uint64_t> recorded = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, leaf = std::uint64_t{0x1200}]() mutable {
      while (recorder_->recording())
        if (record(*recorder_, {leaf++ % 5000, 0x1100}, 1)) ++recorded;
    });
  while (recorded < 10'000) std::this_thread::yield();
  recorder_->end(2000, 1);
  const auto experiment = reader::open_experiment(directory_.path());
  EXPECT_TRUE(experiment && experiment->closed);
  const auto at_end = total();
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(at_end.value_or(0), recorded);
  EXPECT_EQ(total().value_or(0), recorded);
}

TEST(Experiment, NewerFormatIsRefused) {
  Directory directory;
  collector::Recorder* recorder = new_recorder();
  ASSERT_TRUE(recorder && recorder->directory().open_path(directory.path().c_str()) == 0);
  ASSERT_TRUE(write_header(recorder->directory(), header_line(format::kFormatMajor + 1)));
  const auto table = functions_of(directory.path());
  ASSERT_FALSE(table);
  EXPECT_NE(sentence(table.error()).find("use a newer Gnomon"), std::string::npos);
}

}  // namespace
