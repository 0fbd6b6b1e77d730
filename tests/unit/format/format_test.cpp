// The experiment's binary contract: what a flipped bit, a missing record and a foreign kind look
// like.
#include <gtest/gtest.h>

#include <cstring>

#include "libcollector/format/block.h"
#include "libcollector/format/events.h"
#include "libcollector/format/text.h"

namespace gnomon::format {
namespace {

ClockSample example() { return {{0, 4711, 123'456'789, 42, 1, 0, 0}, 10'007'000, {}, 0}; }

std::uint16_t check_of(const ClockSample& sample) {
  std::uint32_t words[sizeof sample / 4];
  std::memcpy(words, &sample, sizeof sample);
  return record_check(record_digest(kClockSample, 48, words, sizeof sample));
}

TEST(RecordCheck, DoesNotCoverItsOwnWord) {
  ClockSample a = example(), b = example();
  b.head.word = 0xffffffff;
  EXPECT_EQ(check_of(a), check_of(b));
}

TEST(RecordCheck, DependsOnThePlaceInTheBlock) {
  std::uint32_t words[sizeof(ClockSample) / 4];
  const ClockSample sample = example();
  std::memcpy(words, &sample, sizeof sample);
  EXPECT_NE(record_check(record_digest(kClockSample, 48, words, sizeof sample)),
            record_check(record_digest(kClockSample, 80, words, sizeof sample)));
  std::uint64_t compact[2] = {CompactWord::of(0x1000, 1, 0).bits, 7};
  EXPECT_NE(compact_check(48, compact, sizeof compact), compact_check(64, compact, sizeof compact));
}

TEST(LineCheck, DependsOnTheSession) { EXPECT_NE(line_check(1, "{}", 2), line_check(2, "{}", 2)); }

TEST(RecordCheck, NoticesEverySingleBitFlip) {
  const std::uint16_t sound = check_of(example());
  for (std::size_t bit = 32; bit < sizeof(ClockSample) * 8; ++bit) {
    ClockSample damaged = example();
    auto* bytes = reinterpret_cast<unsigned char*>(&damaged);
    bytes[bit / 8] = static_cast<unsigned char>(bytes[bit / 8] ^ (1u << (bit % 8)));
    EXPECT_NE(check_of(damaged), sound) << "bit " << bit;
  }
}

TEST(EventKinds, AreFoundByIdAndOnlyKnownOnes) {
  ASSERT_NE(find_event_kind(kClockSample), nullptr);
  EXPECT_EQ(find_event_kind(kClockSample)->size, sizeof(ClockSample));
  EXPECT_EQ(find_event_kind(0), nullptr);
  EXPECT_EQ(find_event_kind(255), nullptr);
}

TEST(EventKinds, EachNamesAFileOfTheExperiment) {
  for (const EventKind& kind : kEventKinds)
    EXPECT_LT(static_cast<std::size_t>(kind.file), kDataFiles.size());
}

}  // namespace
}  // namespace gnomon::format
