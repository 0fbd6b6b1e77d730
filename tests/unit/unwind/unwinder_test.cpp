// The unwinder on made-up stacks of code without unwind information: whole, cut, never beyond the
// stack. Code with rules is the oracle test's.
#include "libcollector/unwind/unwinder.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <array>

using namespace gnomon::collector;
using gnomon::format::WalkEnd;

namespace {

constexpr std::uint64_t kRoot = 0x5000, kSilent = 0x6000;

class UnwinderTest : public testing::Test {
 protected:
  void SetUp() override {
    const auto nothing = [](std::uint64_t, FrameTable&) { return false; };
    ASSERT_TRUE(unwinder.open(nothing, roots));
  }

  std::uint64_t at(std::size_t i) const { return reinterpret_cast<std::uint64_t>(&words[i]); }

  Walked walk(std::uint64_t sp, std::uint64_t fp, std::uint32_t max = 8) {
    std::array<std::uint64_t, kSavedCount> saved{};
    saved[kSavedRip] = 0x2000;
    saved[kSavedRsp] = sp;
    saved[kSavedRbp] = fp;
    LoadedHold hold;
    return unwinder.walk({saved.data(), {{at(0), at(0) + sizeof words}, {}}}, frames, max, hold);
  }

  const Roots roots = {{kSilent, kSilent + 0x100}, {kRoot, kRoot + 0x100}};
  Unwinder unwinder;
  std::array<std::uint64_t, 16> words{};
  std::uint64_t frames[8] = {};
};

TEST_F(UnwinderTest, WholeChain) {
  words[2] = at(6), words[3] = 0x1001;
  words[6] = 0, words[7] = kRoot + 9;
  Walked walked = walk(at(0), at(2));
  EXPECT_FALSE(walked.truncated());
  ASSERT_EQ(walked.count, 3u);
  EXPECT_EQ(frames[0], 0x2000u);
  EXPECT_EQ(frames[1], 0x1000u);
  EXPECT_EQ(frames[2], kRoot + 8);
  words[7] = kSilent + 9;
  walked = walk(at(0), at(2));
  EXPECT_EQ(walked.count, 2u);
  EXPECT_FALSE(walked.truncated());
}

TEST_F(UnwinderTest, NothingIsGuessedWhileAnObjectIsUnloaded) {
  words[2] = at(6), words[3] = 0x1001;
  words[6] = 0, words[7] = kRoot + 9;
  {
    const Unloading unloading;
    const Walked walked = walk(at(0), at(2));
    EXPECT_TRUE(walked.truncated());
    EXPECT_EQ(walked.count, 1u);
  }
  EXPECT_FALSE(walk(at(0), at(2)).truncated());
}

TEST_F(UnwinderTest, WhatLedNowhereIsNotTold) {
  words[2] = at(6), words[3] = 0x1001;
  const Walked walked = walk(at(0), at(2));
  EXPECT_TRUE(walked.truncated());
  EXPECT_EQ(walked.count, 1u);
}

TEST_F(UnwinderTest, CutWhereTheChainIsNotOne) {
  const std::uint64_t wrong[] = {0, 1, at(2) + 4, at(15), at(0) - 8, ~0ull, ~0ull - 15};
  for (const std::uint64_t fp : wrong) {
    const Walked walked = walk(at(1), fp);
    EXPECT_TRUE(walked.truncated()) << fp;
    EXPECT_EQ(walked.count, 1u) << fp;
  }
  words[2] = at(2);  // a loop
  words[3] = 0x1001;
  EXPECT_TRUE(walk(at(0), at(2)).truncated());
}

TEST_F(UnwinderTest, SaysWhyItEnds) {
  EXPECT_EQ(walk(at(1), 1).end, WalkEnd::no_object);
  for (std::size_t i = 0; i < 12; i += 2) words[i] = at(i + 2), words[i + 1] = 0x1001;
  EXPECT_EQ(walk(at(0), at(0), 3).end, WalkEnd::depth);
  words[2] = at(6), words[3] = 0x1001, words[6] = 0, words[7] = kRoot + 9;
  const Walked walked = walk(at(0), at(2));
  EXPECT_EQ(walked.end, WalkEnd::whole);
  EXPECT_TRUE(walked.guessed);
  // psABI 3.4.1: a frame pointer of 0 marks the outermost frame, but an interrupted routine may use
  // rbp for something else.
  words[7] = 0x1001;
  EXPECT_EQ(walk(at(0), at(2)).end, WalkEnd::whole);
  EXPECT_EQ(walk(at(0), 0).end, WalkEnd::no_object);
}

// Of another process: the stack lies elsewhere there, and only a part of it has been copied.
class CopiedStack : public UnwinderTest {
 protected:
  static constexpr std::uint64_t kShift = 0x10'0000'0000;

  std::uint64_t there(std::size_t i) const { return at(i) - kShift; }

  Walked walk_copy(std::uint64_t sp, std::uint64_t fp, std::size_t words_copied) {
    std::array<std::uint64_t, kSavedCount> saved{};
    saved[kSavedRip] = 0x2000;
    saved[kSavedRsp] = sp;
    saved[kSavedRbp] = fp;
    LoadedHold hold;
    return unwinder.walk({saved.data(), {{there(0), there(words_copied)}, {}, kShift}}, frames, 8,
                         hold);
  }
};

TEST_F(CopiedStack, IsReadWhereTheCopyLies) {
  words[2] = there(6), words[3] = 0x1001;
  words[6] = 0, words[7] = kRoot + 9;
  const Walked walked = walk_copy(there(0), there(2), 8);
  EXPECT_EQ(walked.end, WalkEnd::whole);
  ASSERT_EQ(walked.count, 3u);
  EXPECT_EQ(frames[2], kRoot + 8);
}

TEST_F(CopiedStack, WhatLiesBeyondTheCopyIsToldFromWhatHasNoRule) {
  words[2] = there(6), words[3] = 0x1001;
  words[6] = 0, words[7] = kRoot + 9;
  EXPECT_EQ(walk_copy(there(0), there(2), 7).end, WalkEnd::beyond_copy);
  EXPECT_EQ(walk_copy(there(0), 1, 8).end, WalkEnd::no_object);
  EXPECT_EQ(walk_copy(there(0) - 4096, there(2), 8).end, WalkEnd::beyond_copy);
}

// Pages beyond a coroutine's stack are not touched.
TEST_F(UnwinderTest, StackOfACoroutine) {
  constexpr std::size_t kPage = 4096;
  auto* pages = static_cast<char*>(
      mmap(nullptr, 3 * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(pages, MAP_FAILED);
  ASSERT_EQ(mprotect(pages + 2 * kPage, kPage, PROT_NONE), 0);
  auto* top = reinterpret_cast<std::uint64_t*>(pages + 2 * kPage);
  const auto address = [](const void* word) { return reinterpret_cast<std::uint64_t>(word); };
  top[-600] = address(top - 4), top[-599] = 0x1001;
  top[-4] = address(top - 1), top[-3] = 0x1003;
  Walked walked = walk(address(top - 700), address(top - 600));
  EXPECT_EQ(walked.end, WalkEnd::no_object) << "no rule has proved that it is a chain";
  top[-3] = kRoot + 9;
  walked = walk(address(top - 700), address(top - 600));
  EXPECT_EQ(walked.end, WalkEnd::whole);
  EXPECT_EQ(walked.count, 3u);
  munmap(pages, 3 * kPage);
}

TEST_F(UnwinderTest, StackNobodyToldAbout) {
  std::array<std::uint64_t, 16> other{};
  EXPECT_TRUE(walk(reinterpret_cast<std::uint64_t>(&other), at(2)).truncated());
  EXPECT_TRUE(walk(64, at(2)).truncated());
}

TEST_F(UnwinderTest, FullBuffer) {
  for (std::size_t i = 0; i < 12; i += 2) words[i] = at(i + 2), words[i + 1] = 0x1001;
  const Walked walked = walk(at(0), at(0), 3);
  EXPECT_TRUE(walked.truncated());
  EXPECT_LE(walked.count, 3u);
}

}  // namespace
