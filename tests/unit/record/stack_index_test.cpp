// What threads find in a stack index, and how much.
#include "libcollector/record/stack_index.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "libcollector/format/stacks.h"

namespace gnomon::collector {
namespace {

std::uint64_t hash_of(std::uint32_t node) { return format::stack_hash(node / 3, node * 16ull); }

std::uint32_t found(const StackIndex& index, std::uint32_t node) {
  return index.find(hash_of(node), [&](std::uint32_t other) { return other == node; });
}

TEST(StackIndex, KeepsNearlyAllAsItGrows) {
  static StackIndex index{};
  EXPECT_EQ(found(index, 1), 0u);
  constexpr std::uint32_t kNodes = 300'000;
  std::uint32_t missed = 0;
  for (std::uint32_t node = 1; node <= kNodes; ++node) index.add(hash_of(node), node);
  // The last time that the index grew it forgot what it had; who looks again puts it back.
  for (std::uint32_t node = 1; node <= kNodes; ++node)
    if (found(index, node) == 0) index.add(hash_of(node), node);
  for (std::uint32_t node = 1; node <= kNodes; ++node) missed += found(index, node) == 0;
  EXPECT_LT(missed, kNodes / 100);
  index.clear();
  EXPECT_EQ(found(index, kNodes), 0u);
}

TEST(StackIndex, GivesThreadsNoWrongNode) {
  static StackIndex index{};
  std::atomic<std::uint64_t> wrong{0}, right{0};
  std::vector<std::thread> threads;
  for (std::uint32_t t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (std::uint32_t i = 1; i < 200'000; ++i) {
        const std::uint32_t node = 1 + (i * 7 + t * 13) % 50'000;
        const std::uint32_t other = found(index, node);
        if (other == 0)
          index.add(hash_of(node), node);
        else
          ++(other == node ? right : wrong);
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0u);
  EXPECT_GT(right, 400'000u);
  index.clear();
}

}  // namespace
}  // namespace gnomon::collector
