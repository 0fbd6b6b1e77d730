// Notes that are overwritten while they are read.
#include "libcollector/record/thread_notes.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <thread>

#include "tests/unit/experiment/written.h"

namespace gnomon::collector {
namespace {

TEST(ThreadNotes, NotesAreReadWholeAndInOrder) {
  const test::Directory scratch;
  ExperimentDirectory directory;
  ASSERT_EQ(directory.open_path(scratch.path().c_str()), 0);
  static LongWaits notes = {};
  notes.open(directory);
  constexpr std::uint32_t kThread = 7, kNotes = 3'000'000;
  std::atomic<bool> over = false;
  std::thread writer([&] {
    for (std::uint32_t i = 1; i <= kNotes; ++i) notes.put(kThread, {i, i, i, i});
    over = true;
  });
  std::uint32_t seen = 0, last = 0, read = 0;
  std::array<format::LongWait, format::LongWaits::kKept> to;
  for (bool is_last = false; !is_last;) {
    is_last = over;
    const std::uint32_t count = notes.take(kThread, seen, to);
    for (std::uint32_t i = 0; i < count; ++i) {
      ASSERT_TRUE(to[i].begin == to[i].end && to[i].begin == to[i].stack) << to[i].begin;
      ASSERT_EQ(to[i].stack, to[i].state);
      ASSERT_GT(to[i].stack, last);
      last = to[i].stack;
    }
    read += count;
  }
  writer.join();
  EXPECT_GT(read, 0u);
  EXPECT_EQ(last, kNotes);
}

}  // namespace
}  // namespace gnomon::collector
