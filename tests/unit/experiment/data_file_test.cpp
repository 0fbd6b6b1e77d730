// Data files and lanes: each event is visited once, whenever and however often a reader looks.
#include "reader/experiment/data_file.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <atomic>
#include <optional>
#include <thread>

#include "tests/unit/experiment/written.h"

using namespace gnomon;
using namespace gnomon::test;

namespace {

constexpr auto kProfile = static_cast<std::uint16_t>(format::DataKind::profile);
constexpr auto kHeap = static_cast<std::uint16_t>(format::DataKind::heaptrace);

class DataFiles : public Written {
 protected:
  // What a reader visits that looks now.
  Result<void> read(reader::DataFile& file, const reader::DataFile::Visit& visit) const {
    const auto experiment = reader::open_experiment(directory_.path());
    if (!experiment) return tl::unexpected(experiment.error());
    std::optional<reader::LaneCopies> lanes;
    if (!experiment->closed) {
      auto copies = reader::LaneCopies::read(*experiment);
      if (!copies) return tl::unexpected(copies.error());
      lanes = std::move(*copies);
    }
    return file.read_new(*experiment, lanes ? &*lanes : nullptr, {}, visit);
  }

  std::uint64_t weights(reader::DataFile& file) const {
    std::uint64_t sum = 0;
    const auto done = read(file, [&](const reader::Event& event) -> Result<void> {
      sum += event.value(*event.layout.field("weight"));
      return {};
    });
    EXPECT_TRUE(done) << sentence(done.error());
    return sum;
  }
};

TEST_F(DataFiles, AReaderThatLooksAgainSeesWhatIsNew) {
  reader::DataFile file(kProfile);
  std::uint64_t expected = 0, seen = 0;
  for (std::uint64_t i = 1; i <= 3000; ++i) {
    sample(0x1200 + i % 10, i);
    expected += i;
    if (i % 7 == 0) seen += weights(file);
  }
  seen += weights(file);
  EXPECT_EQ(seen, expected);
  EXPECT_EQ(weights(file), 0u);
  sample(0x1200, 5);
  recorder_->end(2000, 1);
  EXPECT_EQ(weights(file), 5u);
  EXPECT_EQ(weights(file), 0u);
}

// Blocks move from lanes to the file while they are read.
TEST_F(DataFiles, AReaderBesideWritersSeesEachEventOnce) {
  reader::DataFile file(kProfile);
  constexpr int kLooks = 20;
  std::atomic<int> looks = 0;
  std::atomic<int> writing = 2;
  std::atomic<std::uint64_t> written = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 2; ++t)
    threads.emplace_back([&] {
      for (std::uint64_t i = 0; i < 100'000 || (looks < kLooks && recorder_->recording()); ++i)
        if (record(*recorder_, {0x1200 + i % 50, 0x1100}, 1)) ++written;
      --writing;
    });
  std::uint64_t seen = 0;
  for (; writing != 0; ++looks) seen += weights(file);
  for (std::thread& thread : threads) thread.join();
  seen += weights(file);
  EXPECT_EQ(seen, written);
}

TEST_F(DataFiles, CompactRecordsHaveThreadAndTimeOfTheirBlock) {
  constexpr std::uint64_t kSecond = 1'000'000'000;
  collector::Writer* writer = recorder_->enter();
  const std::uint32_t stack = intern(*recorder_, *writer, {0x1200, 0x1100});
  struct Wanted {
    std::uint32_t thread;
    std::uint64_t time, address, size;
  };
  std::vector<Wanted> wanted;
  for (std::uint64_t i = 0; i < 2000; ++i)
    wanted.push_back({i < 1500 ? 7u : 8u, 5 + i * kSecond / 10, 0x7fff'0000'0000 + i * 16, i});
  for (const Wanted& each : wanted) {
    const collector::Recorder::Origin origin{each.thread, 3, each.time};
    format::HeapAllocation made{0, stack, 0, each.size};
    format::HeapFree freed{0, 0, 0};
    ASSERT_TRUE(
        recorder_->put_compact<format::kHeapAllocation>(writer->lanes, origin, each.address, made));
    ASSERT_TRUE(
        recorder_->put_compact<format::kHeapFree>(writer->lanes, origin, each.address, freed));
  }
  recorder_->leave(*writer);
  const auto look = [&] {
    std::size_t at = 0;
    reader::DataFile file(kHeap);
    const auto done = read(file, [&](const reader::Event& event) -> Result<void> {
      const Wanted& each = wanted.at(at / 2);
      EXPECT_EQ(event.layout.name, at % 2 == 0 ? "allocation" : "free");
      EXPECT_EQ(event.block.thread, each.thread);
      EXPECT_EQ(event.value(*event.layout.field("time")), each.time);
      EXPECT_EQ(event.value(*event.layout.field("address")), each.address);
      EXPECT_EQ(event.value(*event.layout.field("stack")), at % 2 == 0 ? stack : 0);
      if (at % 2 == 0) {
        EXPECT_EQ(event.value(*event.layout.field("size")), each.size);
      }
      ++at;
      return {};
    });
    EXPECT_TRUE(done) << sentence(done.error());
    EXPECT_EQ(at, 2 * wanted.size());
  };
  look();
  recorder_->end(2000, 1);
  look();
}

// Threads without a lane of their own use the writers' in turn.
TEST_F(DataFiles, LanesAreKeptForWriters) {
  collector::DataLanes of_thread{}, of_late_thread{};
  const auto put = [&](collector::DataLanes& lanes, std::uint32_t thread, std::uint64_t time) {
    format::HeapFree freed{0, 0, 0};
    return recorder_->put_compact<format::kHeapFree>(lanes, {thread, 3, time}, 16UL * thread,
                                                     freed);
  };
  EXPECT_TRUE(put(of_thread, 1, 10));
  recorder_->control()->lanes = format::kMaxLanes - 2;
  EXPECT_FALSE(put(of_late_thread, 2, 20));
  EXPECT_EQ(of_late_thread[format::DataKind::heaptrace].is_refused, 1u);
  EXPECT_TRUE(put(of_thread, 1, 30));
  collector::Writer* writer = recorder_->enter();
  for (const std::uint32_t thread : {2, 3, 2}) EXPECT_TRUE(put(writer->lanes, thread, 40));
  EXPECT_EQ(recorder_->control()->dropped[static_cast<int>(format::Drop::no_lane)], 0u);
  recorder_->leave(*writer);
  EXPECT_TRUE(recorder_->recording());
  recorder_->write_out(of_thread);
  recorder_->end(2000, 1);
  std::vector<std::uint32_t> threads;
  reader::DataFile file(kHeap);
  const auto done = read(file, [&](const reader::Event& event) -> Result<void> {
    threads.push_back(event.block.thread);
    return {};
  });
  EXPECT_TRUE(done) << sentence(done.error());
  EXPECT_EQ(threads, (std::vector<std::uint32_t>{1, 1, 2, 3, 2}));
}

TEST_F(DataFiles, WhatNoLaneTakesIsCounted) {
  recorder_->control()->lanes = format::kMaxLanes;
  EXPECT_FALSE(record(*recorder_, {0x1200, 0x1100}, 1));
  EXPECT_FALSE(record(*recorder_, {0x1200, 0x1100}, 1));
  EXPECT_TRUE(recorder_->recording());
  EXPECT_EQ(recorder_->control()->dropped[static_cast<int>(format::Drop::no_lane)], 2u);
  EXPECT_EQ(recorder_->control()->lanes, format::kMaxLanes);
}

// What a writer left that was interrupted for ever: the word of an unfinished record, or none.
TEST_F(DataFiles, UnfinishedRecordsAreSkippedAndCounted) {
  for (int i = 0; i < 3; ++i) sample(0x1200, 1);
  recorder_->end(2000, 1);
  const int fd = open(directory_.file("profile").c_str(), O_RDWR);
  ASSERT_GE(fd, 0);
  reader::Block block{};
  ASSERT_GT(pread(fd, block.data(), sizeof block, 0), 0);
  auto& header = *reinterpret_cast<format::BlockHeader*>(block.data());
  auto* bytes = reinterpret_cast<std::byte*>(block.data());
  auto* second = bytes + sizeof header + sizeof(format::ClockSample);
  const format::RecordWord open_word{format::kClockSample, sizeof(format::ClockSample) / 8, 0};
  std::memcpy(second, &open_word, sizeof open_word);
  std::memset(second + sizeof(format::ClockSample), 0, sizeof(format::ClockSample));
  header.check = format::block_check(block.data(), header.bytes);
  ASSERT_EQ(pwrite(fd, block.data(), header.bytes, 0), static_cast<ssize_t>(header.bytes));
  close(fd);
  reader::DataFile file(kProfile);
  EXPECT_EQ(weights(file), 1u);
  EXPECT_EQ(file.unfinished(), 1u);
}

TEST_F(DataFiles, BelongToTheirOwnerAlone) {
  sample(0x1200, 1);
  struct stat info {};
  for (const char* name : {"control", "header.json", "map.jsonl", "stacks", "lanes"}) {
    ASSERT_EQ(stat(directory_.file(name).c_str(), &info), 0) << name;
    EXPECT_EQ(info.st_mode & 0777, 0600u) << name;
  }
  recorder_->end(2000, 1);
  ASSERT_EQ(stat(directory_.file("profile").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
  EXPECT_NE(stat(directory_.file("lanes").c_str(), &info), 0);
}

// A directory that takes the place of the experiment's is not written to.
TEST_F(DataFiles, AnotherDirectoryInItsPlaceEndsTheRecording) {
  const std::string moved = directory_.path() + "-moved";
  std::filesystem::rename(directory_.path(), moved);
  std::filesystem::create_directory(directory_.path());
  for (int i = 0; i < 2000 && recorder_->recording(); ++i) record(*recorder_, {0x1200, 0x1100}, 1);
  EXPECT_FALSE(recorder_->recording());
  EXPECT_TRUE(std::filesystem::is_empty(directory_.path()));
  std::filesystem::remove(directory_.path());
  std::filesystem::rename(moved, directory_.path());
}

// A block that could not be written out stays in its lane.
TEST_F(DataFiles, NothingIsLostWhereTheDataFileCannotBeWritten) {
  ASSERT_EQ(symlink("/dev/full", directory_.file("profile").c_str()), 0);
  std::uint64_t recorded = 0;
  for (int i = 0; i < 2000; ++i)
    if (record(*recorder_, {0x1200, 0x1100}, 1)) ++recorded;
  EXPECT_GT(recorded, 400u);
  EXPECT_LT(recorded, 1100u);
  recorder_->end(2000, 1);
  EXPECT_EQ(total().value_or(0), recorded);
  EXPECT_EQ(recorder_->control()->failure, static_cast<std::uint32_t>(format::Failure::open_file));
}

}  // namespace
