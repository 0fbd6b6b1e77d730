// One experiment that two processes write: whole whoever ends first, readable if one is killed.
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

#include "tests/unit/experiment/written.h"

using namespace gnomon;
using namespace gnomon::test;

namespace {

constexpr std::uint64_t kSamples = 20'000, kOwnStacks = 3000, kSharedStacks = 2000;

// Every other sample is of a stack that both processes have.
bool record_many(collector::Recorder& recorder, std::uint64_t first_own, std::uint32_t thread) {
  for (std::uint64_t i = 0; i < kSamples; ++i) {
    const std::uint64_t leaf = i % 2 == 0 ? 0x1200 + i % kSharedStacks : first_own + i % kOwnStacks;
    if (!record(recorder, {leaf, 0x1100}, 1, thread)) return false;
  }
  return true;
}

class Joint : public Written {
 protected:
  void SetUp() override {
    Written::SetUp();
    void* page = mmap(nullptr, format::kControlBytes, PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(page, MAP_FAILED);
    go_ = static_cast<std::uint32_t*>(page);
  }
  void TearDown() override {
    munmap(go_, format::kControlBytes);
    Written::TearDown();
  }

  format::ControlPage* map_page() const {
    collector::ExperimentDirectory directory{};
    if (directory.open_path(directory_.path().c_str()) != 0) return nullptr;
    const int file = directory.open_file(format::kControlFile, O_RDWR);
    void* page = mmap(nullptr, format::kControlBytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    return page == MAP_FAILED ? nullptr : static_cast<format::ControlPage*>(page);
  }

  // Null: it cannot take part.
  collector::Recorder* join() const {
    collector::Recorder* other = new_recorder();
    format::ControlPage* page = map_page();
    if (!other || !page || other->directory().open_path(directory_.path().c_str()) != 0 ||
        !other->join(*page) || !other->open_storage(1).at)
      return nullptr;
    return other;
  }

  // A process that takes part, records, tells so and waits to be killed, or ends.
  pid_t start_other(bool ends) const {
    const pid_t child = fork();
    if (child != 0) return child;
    collector::Recorder* other = join();
    bool done = other && record_many(*other, 0x1000'0000, 2);
    __atomic_store_n(go_, done ? 1 : 2, __ATOMIC_RELEASE);
    if (!ends)
      for (;;) pause();
    if (done) other->finish();
    _exit(done ? 0 : 1);
  }

  int status_of(pid_t child) const {
    int status = -1;
    return waitpid(child, &status, 0) == child ? status : -1;
  }

  bool is_closed() const {
    const auto experiment = reader::open_experiment(directory_.path());
    return experiment && experiment->closed;
  }

  std::uint32_t* go_ = nullptr;
};

TEST_F(Joint, TwoProcessesAtOnce) {
  const pid_t other = start_other(true);
  ASSERT_GT(other, 0);
  ASSERT_TRUE(record_many(*recorder_, 0x2000'0000, 1));
  ASSERT_EQ(status_of(other), 0);
  EXPECT_EQ(total().value_or(0), 2 * kSamples);
  EXPECT_FALSE(is_closed());
  recorder_->end(2000, 5000);
  EXPECT_TRUE(is_closed());
  const auto all = read_all(directory_.path());
  ASSERT_TRUE(all);
  EXPECT_EQ(all->sums.total(reader::kTotalCpu), 2 * kSamples);
  std::size_t distinct = 0;
  for (const bool used : all->sums.used()) distinct += used ? 1 : 0;
  EXPECT_EQ(distinct, kSharedStacks / 2 + 2 * kOwnStacks / 2) << "shared stacks are one node";
  EXPECT_FALSE(std::filesystem::exists(directory_.file(format::kLanesFile)));
}

TEST_F(Joint, WhoeverLeavesLastCloses) {
  collector::Recorder* other = join();
  ASSERT_TRUE(other);
  ASSERT_TRUE(record_many(*recorder_, 0x2000'0000, 1));
  recorder_->end(2000, 5000);
  EXPECT_FALSE(is_closed());
  ASSERT_TRUE(record_many(*other, 0x1000'0000, 2));
  EXPECT_EQ(total().value_or(0), 2 * kSamples);
  other->finish();
  EXPECT_TRUE(is_closed());
  EXPECT_EQ(total().value_or(0), 2 * kSamples);
  EXPECT_FALSE(join()) << "nobody joins what is complete";
  munmap(other, sizeof *other);
}

TEST_F(Joint, AKilledWriterLeavesWhatItRecorded) {
  const pid_t other = start_other(false);
  ASSERT_GT(other, 0);
  for (int i = 0; i < 20'000 && __atomic_load_n(go_, __ATOMIC_ACQUIRE) == 0; ++i) usleep(1000);
  kill(other, SIGKILL);
  EXPECT_TRUE(WIFSIGNALED(status_of(other)));
  ASSERT_EQ(*go_, 1u);
  ASSERT_TRUE(record_many(*recorder_, 0x2000'0000, 1));
  recorder_->end(2000, 5000);
  EXPECT_FALSE(is_closed());
  EXPECT_EQ(total().value_or(0), 2 * kSamples);
}

}  // namespace
