// When a recording's limits of length and size are due.
#include "libcollector/sampler/limits.h"

#include <gtest/gtest.h>

namespace gnomon::sampler {
namespace {

using format::Setting;
using Due = Limits::Due;

constexpr std::uint64_t kSecond = 1'000'000'000, kStart = 5000 * kSecond;

struct Recording {
  format::SettingValues settings{};
  format::ControlPage page{};
  Limits limits{settings, page};
};

// A debugger may hold the program for as long as its user likes.
TEST(Limits, NothingIsDueBeforeTheRecordingBegins) {
  for (const Setting setting : {Setting::duration, Setting::delay}) {
    Recording recording;
    recording.settings[setting] = kSecond;
    EXPECT_EQ(recording.limits.look(kStart), Due::nothing);
    EXPECT_LE(recording.limits.next_look(kStart), kStart + kSecond / 100);
    recording.page.start_time = kStart;
    EXPECT_EQ(recording.limits.look(kStart + kSecond - 1), Due::nothing);
    EXPECT_EQ(recording.limits.next_look(kStart + 1), kStart + kSecond);
    EXPECT_EQ(recording.limits.look(kStart + kSecond),
              setting == Setting::duration ? Due::duration : Due::delay);
  }
}

TEST(Limits, ADelayIsOverOnce) {
  Recording recording;
  recording.settings[Setting::delay] = kSecond;
  recording.page.start_time = kStart;
  EXPECT_EQ(recording.limits.look(kStart + kSecond), Due::delay);
  EXPECT_EQ(recording.limits.look(kStart + 2 * kSecond), Due::nothing);
  EXPECT_EQ(recording.limits.next_look(kStart + 2 * kSecond), ~0ull);
}

TEST(Limits, EventsOfAllKindsCountForTheSize) {
  Recording recording;
  recording.settings[Setting::size_limit] = 3UL * format::kBlockBytes;
  recording.page.start_time = kStart;
  recording.page.blocks[0] = 1;
  recording.page.blocks[2] = 1;
  EXPECT_EQ(recording.limits.look(kStart), Due::nothing);
  recording.page.blocks[2] = 2;
  EXPECT_EQ(recording.limits.look(kStart), Due::size);
  recording.page.pause_reason = static_cast<std::uint32_t>(format::PauseReason::size_limit);
  EXPECT_EQ(recording.limits.look(kStart), Due::nothing);
}

}  // namespace
}  // namespace gnomon::sampler
