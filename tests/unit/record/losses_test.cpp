// Events that could not be recorded are counted for their true reason, and told above a table.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "libcollector/outside/process_objects.h"
#include "tests/unit/experiment/written.h"
#include "tests/unit/report/reports.h"

namespace gnomon {
namespace {

using format::Drop;

class Losses : public test::Written {
 protected:
  std::uint64_t dropped(Drop drop) const {
    return recorder_->control()->dropped[static_cast<std::size_t>(drop)];
  }
  std::vector<std::string> notes() const {
    const auto table = test::functions_of(directory_.path());
    EXPECT_TRUE(table);
    return table ? table->notes : std::vector<std::string>();
  }
  static bool any_has(const std::vector<std::string>& notes, std::string_view text) {
    return std::ranges::any_of(
        notes, [&](const std::string& note) { return note.find(text) != std::string::npos; });
  }
};

TEST_F(Losses, EachReasonHasItsSentence) {
  sample(0x1200, 1'000'000);
  std::uint32_t count = 100;
  for (const format::DropText& row : format::kDrops) recorder_->drop(row.drop, ++count);
  recorder_->end(2000, 1'000'000);
  const auto told = notes();
  count = 100;
  for (const format::DropText& row : format::kDrops)
    EXPECT_TRUE(any_has(told, fmt::format("{}: {}.", row.what, ++count))) << row.what;
}

TEST_F(Losses, NothingIsToldOfWhatWasNotLost) {
  sample(0x1200, 1'000'000);
  recorder_->end(2000, 1'000'000);
  const auto told = notes();
  for (const format::DropText& row : format::kDrops)
    EXPECT_FALSE(any_has(told, row.what)) << row.what;
}

// There is one writer.
TEST_F(Losses, AThreadThatFindsNoWriterIsCounted) {
  collector::Writer* const taken = recorder_->enter();
  ASSERT_TRUE(taken);
  EXPECT_FALSE(test::record(*recorder_, {0x1200, 0x1100}, 5));
  EXPECT_EQ(dropped(Drop::writers_busy), 1u);
  recorder_->leave(*taken);
  sample(0x1200, 7);
  EXPECT_EQ(dropped(Drop::writers_busy), 1u);
  EXPECT_EQ(total().value_or(0), 7u);
}

TEST_F(Losses, ALoadObjectThatCannotBeNotedIsCounted) {
  outside::ProcessObjects objects(getpid(), *recorder_);
  ASSERT_TRUE(objects.read());
  std::filesystem::remove(directory_.file(format::kMapFile));
  std::filesystem::create_directory(directory_.file(format::kMapFile));
  objects.note_frame(reinterpret_cast<std::uint64_t>(&test::write_map), 0);
  EXPECT_EQ(dropped(Drop::load_objects), 1u);
  EXPECT_TRUE(recorder_->recording()) << "its samples are of use nevertheless";
}

}  // namespace
}  // namespace gnomon
