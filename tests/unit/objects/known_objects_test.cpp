// Known load objects: found, forgotten once, their place used again.
#include "libcollector/objects/known_objects.h"

#include <gtest/gtest.h>

#include <memory>
#include <thread>
#include <vector>

namespace gnomon::collector {
namespace {

LoadObject object_at(std::uint64_t begin, std::uint64_t end) {
  return {begin, end, 0, "", nullptr, 0};
}

TEST(KnownObjects, FoundByTheirRange) {
  const auto known = std::make_unique<KnownObjects>();
  known->remember(object_at(0x1000, 0x2000), 1);
  known->remember(object_at(0x3000, 0x4000), 2);
  EXPECT_FALSE(known->find(0xfff));
  EXPECT_FALSE(known->find(0x2000));
  EXPECT_EQ(known->find(0x3fff).identity, 2u);
  const KnownObjects::Found first = known->find(0x1000);
  EXPECT_TRUE(known->forget(first));
  EXPECT_FALSE(known->forget(first));
  EXPECT_FALSE(known->find(0x1000));
  known->remember(object_at(0x1000, 0x2000), 3);
  EXPECT_EQ(known->find(0x1000).identity, 3u);
  EXPECT_EQ(known->used(), 2u);
  EXPECT_FALSE(known->forget(first));
}

TEST(KnownObjects, ForgottenPlacesAreUsedAgain) {
  const auto known = std::make_unique<KnownObjects>();
  for (std::uint64_t i = 1; i <= 3ul * KnownObjects::kMax; ++i) {
    known->remember(object_at(0x1000, 0x2000), i);
    ASSERT_EQ(known->find(0x1800).identity, i);
    ASSERT_TRUE(known->forget(known->find(0x1800)));
  }
  EXPECT_EQ(known->used(), 1u);
}

TEST(KnownObjects, OneOfManyForgets) {
  const auto known = std::make_unique<KnownObjects>();
  constexpr std::uint64_t kRounds = 300;
  std::atomic<std::uint64_t> forgotten = 0;
  std::atomic<bool> done = false;
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t)
    threads.emplace_back([&] {
      while (!done)
        if (const auto found = known->find(0x1800); found) {
          // Never half of one object and half of the next.
          EXPECT_EQ(found.begin + 0x1000 * found.identity, found.end);
          if (known->forget(found)) ++forgotten;
        }
    });
  for (std::uint64_t i = 1; i <= kRounds; ++i) {
    known->remember(object_at(0x1000, 0x1000 + 0x1000 * i), i);
    while (forgotten < i) std::this_thread::yield();
  }
  done = true;
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(forgotten, kRounds);
}

}  // namespace
}  // namespace gnomon::collector
