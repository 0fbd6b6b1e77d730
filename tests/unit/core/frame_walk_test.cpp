// The frame-pointer walk on made-up stacks: whole, cut, and never beyond its bounds.
#include "libcollector/core/frame_walk.h"

#include <gtest/gtest.h>

#include <array>

using namespace gnomon::collector;

namespace {

constexpr std::uint64_t kRoot = 0x5000;

struct Stack {
  std::array<std::uint64_t, 16> words{};
  std::uint64_t at(std::size_t i) const { return reinterpret_cast<std::uint64_t>(&words[i]); }
  StackBounds bounds(std::size_t root) const {
    return {at(0), at(0) + sizeof words, at(root), kRoot, kRoot + 0x100, true};
  }
};

TEST(FrameWalk, WholeChain) {
  Stack s;
  s.words[2] = s.at(6), s.words[3] = 0x1001;
  s.words[6] = s.at(12), s.words[7] = kRoot + 9;
  std::uint64_t frames[8];
  StackBounds bounds = s.bounds(12);
  Walked walked = walk_frames({0x2000, s.at(0), s.at(2)}, bounds, frames, 8);
  EXPECT_FALSE(walked.truncated);
  ASSERT_EQ(walked.count, 3u);
  EXPECT_EQ(frames[0], 0x2000u);
  EXPECT_EQ(frames[1], 0x1000u);
  EXPECT_EQ(frames[2], kRoot + 8);
  bounds.keep_root = false;
  walked = walk_frames({0x2000, s.at(0), s.at(2)}, bounds, frames, 8);
  EXPECT_EQ(walked.count, 2u);
  EXPECT_FALSE(walked.truncated);
}

// Code without frames leaves the root's frame pointer in the register: that proves nothing.
TEST(FrameWalk, RootPointerAloneIsNoProof) {
  Stack s;
  std::uint64_t frames[8];
  const Walked walked = walk_frames({0x2000, s.at(0), s.at(12)}, s.bounds(12), frames, 8);
  EXPECT_TRUE(walked.truncated);
  EXPECT_EQ(walked.count, 1u);
}

TEST(FrameWalk, CutWhereTheChainIsNotOne) {
  Stack s;
  std::uint64_t frames[8];
  const std::uint64_t wrong[] = {0, 1, s.at(2) + 4, s.at(15), s.at(0) - 8, ~0ull, ~0ull - 15};
  for (const std::uint64_t fp : wrong) {
    const Walked walked = walk_frames({0x2000, s.at(1), fp}, s.bounds(12), frames, 8);
    EXPECT_TRUE(walked.truncated) << fp;
    EXPECT_EQ(walked.count, 1u) << fp;
  }
  s.words[2] = s.at(2);  // a loop
  s.words[3] = 0x1001;
  EXPECT_TRUE(walk_frames({0x2000, s.at(0), s.at(2)}, s.bounds(12), frames, 8).truncated);
}

TEST(FrameWalk, OtherStack) {
  Stack s, other;
  std::uint64_t frames[8];
  EXPECT_TRUE(walk_frames({0x2000, 64, s.at(2)}, s.bounds(12), frames, 8).truncated);
}

TEST(FrameWalk, FullBuffer) {
  Stack s;
  for (std::size_t i = 0; i < 12; i += 2) s.words[i] = s.at(i + 2), s.words[i + 1] = 0x1001;
  std::uint64_t frames[3];
  const Walked walked = walk_frames({0x2000, s.at(0), s.at(0)}, s.bounds(12), frames, 3);
  EXPECT_TRUE(walked.truncated);
  EXPECT_EQ(walked.count, 3u);
}

}  // namespace
