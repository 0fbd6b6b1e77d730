// Damaged experiments: whatever happens to the files, the same table, a note of what is lost, or a
// fault; never another table.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <random>

#include "tests/unit/experiment/written.h"
#include "tests/unit/report/reports.h"
#include "tests/unit/thorough.h"

using namespace gnomon;
using namespace gnomon::test;
namespace fs = std::filesystem;

namespace {

class Damaged : public Written {
 protected:
  const int kStep = is_thorough() ? 1 : 5;

  void write(int samples) {
    for (int i = 0; i < samples; ++i) sample(0x1200 + static_cast<std::uint64_t>(i % 20), 10);
  }

  // Table and status; empty: a fault.
  std::string text() const {
    const auto functions = functions_of(directory_.path());
    const auto status = status_of(directory_.path());
    return functions && status ? *to_text(*functions) + *to_text(*status) : "";
  }

  // Returns true if a fault or a note says that something is damaged.
  static bool is_noticed(const std::string& text) {
    return text.empty() || text.find("of events that are damaged: ") != std::string::npos ||
           text.find("of events that are missing: ") != std::string::npos;
  }

  // Flips bits of [begin, end) of a file: each one if there are at most `most`, else as many at
  // random; one in kStep of these. Returns how often it was noticed, times kStep.
  int flip(const std::string& name, off_t begin, off_t end, int most) {
    const std::string whole = text();
    EXPECT_NE(whole, "");
    const int fd = open(directory_.file(name).c_str(), O_RDWR);
    EXPECT_GE(fd, 0);
    std::mt19937 random(1);
    const auto bits = static_cast<int>(end - begin) * 8;
    int noticed = 0;
    for (int i = kStep - 1; i < std::min(bits, most); i += kStep) {
      const int bit = bits <= most ? i : static_cast<int>(random() % static_cast<unsigned>(bits));
      const off_t at = begin + bit / 8;
      unsigned char byte = 0;
      EXPECT_EQ(pread(fd, &byte, 1, at), 1);
      const auto flipped = static_cast<unsigned char>(byte ^ (1u << (bit % 8)));
      EXPECT_EQ(pwrite(fd, &flipped, 1, at), 1);
      const std::string now = text();
      if (is_noticed(now))
        ++noticed;
      else
        EXPECT_EQ(now, whole) << name << " byte " << at << " bit " << bit % 8;
      EXPECT_EQ(pwrite(fd, &byte, 1, at), 1);
    }
    close(fd);
    EXPECT_EQ(text(), whole);
    return noticed * kStep;
  }

  off_t size(const std::string& name) const {
    return static_cast<off_t>(fs::file_size(directory_.file(name)));
  }
};

constexpr off_t kClosedEnd = format::kClosedPageOffset + sizeof(format::ClosedPage);

TEST_F(Damaged, EveryBitOfAClosedExperiment) {
  write(100);
  recorder_->end(2000, 1000);
  const auto all = [&](const std::string& name) {
    return static_cast<int>(size(name)) * 8 / kStep * kStep;
  };
  EXPECT_EQ(flip("header.json", 0, size("header.json"), 3'000), 3'000);
  EXPECT_EQ(flip("map.jsonl", 0, size("map.jsonl"), 2'000), std::min(all("map.jsonl"), 2'000));
  flip("control", 0, sizeof(format::ControlPage), 500);
  EXPECT_GT(flip("control", format::kClosedPageOffset, kClosedEnd, 14'000),
            static_cast<int>(sizeof(format::ControlPage)) * 8 - 1);
  constexpr off_t kRecords = 100 * sizeof(format::ClockSample);
  EXPECT_GT(flip("profile", sizeof(format::BlockHeader), kRecords, 1000), 999);
  flip("profile", 0, sizeof(format::BlockHeader), 500);
  flip("profile", 0, size("profile"), 500);
  flip("stacks", 0, sizeof(format::StackHeader), 500);
  flip("stacks", format::kStackBucketsOffset, format::kStackNodesOffset, 500);
  constexpr off_t kNodes = format::kStackNodesOffset + sizeof(format::StackNode);
  EXPECT_GT(flip("stacks", kNodes, kNodes + 20 * sizeof(format::StackNode), 1000), 430);
}

// What a killed program leaves has no last checksums.
TEST_F(Damaged, BitsOfAnOpenExperiment) {
  write(200);
  constexpr off_t kRecords = sizeof(format::BlockHeader);
  EXPECT_GT(flip("lanes", kRecords, kRecords + 200 * sizeof(format::ClockSample), 500), 480);
  flip("lanes", 0, format::kBlockBytes, 500);
  // Half of a node is its links, which only writers follow.
  constexpr off_t kNodes = format::kStackNodesOffset + sizeof(format::StackNode);
  EXPECT_GT(flip("stacks", kNodes, kNodes + 20 * sizeof(format::StackNode), 1000), 430);
}

// Records of a lane are all there that its header counts, each at its own place.
TEST_F(Damaged, RecordsOfAnOpenExperimentDoNotVanishOrMove) {
  constexpr off_t kRecord = sizeof(format::ClockSample);
  const auto place = [](off_t number) {
    return static_cast<off_t>(sizeof(format::BlockHeader)) + number * kRecord;
  };
  write(20);
  ASSERT_NE(text(), "");
  const int fd = open(directory_.file("lanes").c_str(), O_RDWR);
  ASSERT_GE(fd, 0);
  char kept[kRecord] = {}, other[kRecord] = {};
  ASSERT_EQ(pread(fd, other, kRecord, place(3)), kRecord);
  const std::vector<char> zeros(kRecord);
  for (const off_t number : {0, 7, 19}) {
    ASSERT_EQ(pread(fd, kept, kRecord, place(number)), kRecord);
    for (const char* harm : {zeros.data(), static_cast<const char*>(other)}) {
      ASSERT_EQ(pwrite(fd, harm, kRecord, place(number)), kRecord);
      EXPECT_TRUE(is_noticed(text())) << number;
    }
    ASSERT_EQ(pwrite(fd, kept, kRecord, place(number)), kRecord);
  }
  ASSERT_EQ(pwrite(fd, other, kRecord, place(20)), kRecord);  // behind the last one
  EXPECT_TRUE(is_noticed(text()));
  close(fd);
}

TEST_F(Damaged, AMapOfAnotherRunIsNoticed) {
  write(20);
  recorder_->end(2000, 200);
  ASSERT_NE(text(), "");
  char line[512];
  collector::JsonLine other(kSession + 1, line, sizeof line);
  other.number("line", 0).text("event", "load").hex("begin", 0x1000).hex("end", 0x2000);
  other.hex("bias", 0).text("path", "/other");
  fs::remove(directory_.file("map.jsonl"));
  ASSERT_TRUE(write_line(recorder_->directory(), format::kMapFile, other, line));
  EXPECT_EQ(text(), "");
}

// Numbers that files hold are no sizes to make room for, nor places to write at.
TEST_F(Damaged, NumbersThatAreTooLarge) {
  write(20);
  const std::string whole = text();
  ASSERT_NE(whole, "");
  const std::string path = directory_.file("stacks"), kept = directory_.file("kept");
  fs::copy_file(path, kept);
  fs::resize_file(path, std::uintmax_t{1} << 40);
  EXPECT_EQ(text(), whole) << "a hole";
  reader::StackRoom room(directory_.path());
  EXPECT_FALSE(room.has(1 << 29));
  EXPECT_FALSE(room.has(~std::uint64_t{0}));
  fs::rename(kept, path);
  std::uint32_t& blocks = recorder_->control()->blocks[0];
  const std::uint32_t written = std::exchange(blocks, ~0u);
  EXPECT_TRUE(is_noticed(text()));
  blocks = written;
  EXPECT_EQ(text(), whole);
  std::ofstream(directory_.file("map.jsonl"), std::ios::app) << std::string(5 << 20, '[');
  EXPECT_EQ(text(), "") << "an endless line";
}

TEST_F(Damaged, AStackThatIsNotThere) {
  for (const std::uint32_t stack : {~0u, ~0u - 1, 1u << 31, 1u << 20, 100u}) {
    collector::Writer* writer = recorder_->enter();
    ASSERT_TRUE(writer);
    format::ClockSample sample{};
    sample.weight = 10;
    sample.head.stack = stack;
    ASSERT_TRUE(recorder_->put(*writer, format::kClockSample, sample));
    recorder_->leave(*writer);
    EXPECT_EQ(text(), "") << stack;
  }
}

TEST_F(Damaged, EveryCut) {
  write(3000);
  recorder_->end(2000, 30000);
  const std::string whole = text();
  ASSERT_NE(whole, "");
  for (const char* name : {"header.json", "control", "map.jsonl", "stacks", "profile"}) {
    const std::string path = directory_.file(name), kept = directory_.file("kept");
    fs::copy_file(path, kept, fs::copy_options::overwrite_existing);
    for (const std::uintmax_t bytes :
         {std::uintmax_t{0}, std::uintmax_t{1}, fs::file_size(path) / 2, fs::file_size(path) - 1}) {
      fs::remove(path);
      fs::copy_file(kept, path);
      fs::resize_file(path, bytes);
      EXPECT_TRUE(is_noticed(text())) << name << " " << bytes;
    }
    fs::remove(path);
    EXPECT_EQ(text(), "") << name;
    fs::rename(kept, path);
  }
  EXPECT_EQ(text(), whole);
}

// The rest is read.
TEST_F(Damaged, ALostBlockCostsOneBlock) {
  write(5000);
  recorder_->end(2000, 50000);
  const auto whole = reader::open_experiment(directory_.path());
  ASSERT_TRUE(whole);
  const std::uint32_t blocks = whole->control.blocks[0];
  const std::vector<char> zeros(format::kBlockBytes);
  const int fd = open(directory_.file("profile").c_str(), O_RDWR);
  ASSERT_GE(fd, 0);
  EXPECT_EQ(pwrite(fd, zeros.data(), zeros.size(), format::kBlockBytes), format::kBlockBytes);
  EXPECT_EQ(pwrite(fd, "wrong", 5, 2 * format::kBlockBytes + 1000), 5);
  close(fd);
  const std::string now = text();
  for (const char* kind : {"missing", "damaged"})
    EXPECT_NE(now.find("blocks of events that are " + std::string(kind) + ": 1 of " +
                       std::to_string(blocks)),
              std::string::npos)
        << now;
  reader::AnalysisCache cache;
  const auto analysis = cache.get({directory_.path()}, {}, {}, {});
  ASSERT_TRUE(analysis);
  constexpr std::uint64_t kInABlock =
      (format::kBlockBytes - sizeof(format::BlockHeader)) / sizeof(format::ClockSample);
  EXPECT_EQ((*analysis)->parts().front()->events(format::kClockSample), 5000 - 2 * kInABlock);
}

}  // namespace
