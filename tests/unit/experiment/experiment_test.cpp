// An experiment written by the recorder, read back: whole, while it grows, cut short, bit-flipped.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <random>

#include "libcollector/core/recorder.h"
#include "reader/experiment/events.h"
#include "reader/experiment/stacks.h"
#include "reader/report/report.h"

using namespace gnomon;
namespace fs = std::filesystem;

namespace {

constexpr std::uint64_t kSession = 0x1234;

class Written : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/gnomon-XXXXXX";
    ASSERT_TRUE(mkdtemp(name));
    directory_ = name;
    std::ofstream(directory_ + "/header.json")
        << R"({"format":{"major":1,"minor":0},"session":"0x1234","pid":1,"argv":["x"]})";
    std::ofstream(directory_ + "/map.jsonl")
        << R"({"event":"load","begin":"0x1000","end":"0x2000","bias":"0x0","path":"/gone"})"
        << "\n";
    void* memory = mmap(nullptr, sizeof(collector::Recorder), PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(memory, MAP_FAILED);
    ASSERT_EQ(madvise(memory, sizeof(collector::Recorder), MADV_WIPEONFORK), 0);
    recorder_ = static_cast<collector::Recorder*>(memory);
    ASSERT_TRUE(recorder_->open(directory_.c_str(), kSession).at);
    ASSERT_TRUE(recorder_->open_storage(2).at);
    recorder_->begin(1, 1000);
  }
  void TearDown() override {
    munmap(recorder_, sizeof(collector::Recorder));
    fs::remove_all(directory_);
  }

  void sample(std::uint64_t leaf, std::uint64_t weight) {
    collector::Lane* lane = recorder_->enter();
    ASSERT_TRUE(lane);
    lane->frames[0] = leaf;
    lane->frames[1] = 0x1100;
    format::ClockSample record{};
    record.weight = weight;
    record.stack = recorder_->intern(*lane, 2, false, [](std::uint64_t, collector::Lane&) {});
    ASSERT_TRUE(recorder_->put(*lane, format::kEventKinds[0], record));
    recorder_->leave(*lane);
  }

  Result<std::uint64_t> total() const {
    auto experiment = reader::open_experiment(directory_);
    if (!experiment) return tl::unexpected(experiment.error());
    auto sums = reader::sum_clock_samples(*experiment);
    if (!sums) return tl::unexpected(sums.error());
    return sums->total.time.value;
  }

  std::string directory_;
  collector::Recorder* recorder_ = nullptr;
};

TEST_F(Written, ReadableAtEveryMoment) {
  EXPECT_EQ(total().value_or(99), 0u);
  for (std::uint64_t i = 1; i <= 5000; ++i) {  // three blocks
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
  auto experiment = reader::open_experiment(directory_);
  ASSERT_TRUE(experiment);
  auto sums = reader::sum_clock_samples(*experiment);
  auto stacks = reader::Stacks::open(*experiment);
  ASSERT_TRUE(sums && stacks);
  std::size_t distinct = 0;
  for (std::uint32_t id = 0; id < sums->by_stack.size(); ++id) {
    if (sums->by_stack[id].samples == 0) continue;
    ++distinct;
    ASSERT_TRUE(stacks->contains(StackId{id}));
    EXPECT_EQ(stacks->node(stacks->parent(StackId{id})).pc, 0x1100u);
  }
  EXPECT_EQ(distinct, 7000u);
}

TEST_F(Written, ForkedChildRecordsNothing) {
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) _exit(recorder_->recording() ? 1 : 0);
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(recorder_->recording());
}

TEST_F(Written, FailureStaysVisible) {
  recorder_->fail(format::Failure::no_space, ENOSPC);
  recorder_->end(2000, 1);
  auto table = reader::functions_report(directory_);
  ASSERT_TRUE(table);
  ASSERT_FALSE(table->notes.empty());
  EXPECT_NE(table->notes[0].find("file system of the experiment is full"), std::string::npos);
}

// Whatever happens to one bit of a data file: the same table, or a fault; never another table.
TEST_F(Written, EveryFlippedBitIsHarmlessOrNoticed) {
  for (int i = 0; i < 200; ++i) sample(0x1200 + static_cast<std::uint64_t>(i % 20), 10);
  recorder_->end(2000, 2000);
  const auto whole = reader::functions_report(directory_);
  ASSERT_TRUE(whole);
  const std::string text = to_text(*whole);
  std::mt19937 random(1);
  int noticed = 0;
  for (const char* name : {"profile", "stacks"}) {
    const std::string path = directory_ + "/" + name;
    const int fd = open(path.c_str(), O_RDWR);
    ASSERT_GE(fd, 0);
    const bool stacks = std::string(name) == "stacks";
    for (int i = 0; i < 2000; ++i) {
      // Where the data is: the first 7 KB of a block; the first nodes of the table.
      const off_t at = static_cast<off_t>(stacks ? format::kStackNodesOffset + 16 + random() % 300
                                                 : random() % 6400);
      unsigned char byte = 0;
      ASSERT_EQ(pread(fd, &byte, 1, at), 1);
      const auto flipped = static_cast<unsigned char>(byte ^ (1u << (random() % 8)));
      ASSERT_EQ(pwrite(fd, &flipped, 1, at), 1);
      if (const auto table = reader::functions_report(directory_)) {
        EXPECT_EQ(to_text(*table), text) << name << " byte " << at;
      } else {
        ++noticed;
      }
      ASSERT_EQ(pwrite(fd, &byte, 1, at), 1);
    }
    close(fd);
  }
  EXPECT_GT(noticed, 3000);
}

TEST_F(Written, EveryCutIsHarmlessOrNoticed) {
  for (int i = 0; i < 3000; ++i) sample(0x1200, 1);
  recorder_->end(2000, 3000);
  const auto uncut = reader::functions_report(directory_);
  ASSERT_TRUE(uncut);
  const std::string text = to_text(*uncut);
  for (const char* name : {"header.json", "control", "stacks", "profile"}) {
    const std::string path = directory_ + "/" + name, kept = directory_ + "/kept";
    fs::copy_file(path, kept, fs::copy_options::overwrite_existing);
    for (const std::uintmax_t size :
         {std::uintmax_t{0}, std::uintmax_t{1}, fs::file_size(path) / 2, fs::file_size(path) - 1}) {
      fs::remove(path);
      fs::copy_file(kept, path);
      fs::resize_file(path, size);
      const auto table = reader::functions_report(directory_);
      if (table) {  // what was cut off is not used
        EXPECT_EQ(to_text(*table), text) << name << " " << size;
      }
    }
    fs::remove(path);
    EXPECT_FALSE(reader::functions_report(directory_)) << name;
    fs::rename(kept, path);
  }
}

TEST_F(Written, NewerFormatIsRefused) {
  std::ofstream(directory_ + "/header.json") << R"({"format":{"major":2},"session":"0x1234"})";
  const auto table = reader::functions_report(directory_);
  ASSERT_FALSE(table);
  EXPECT_NE(sentence(table.error()).find("use a newer Gnomon"), std::string::npos);
}

}  // namespace
