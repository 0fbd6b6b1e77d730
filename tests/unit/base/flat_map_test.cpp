// A hash map in one array, compared with the standard library's.
#include "reader/base/flat_map.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

using namespace gnomon;

TEST(FlatMap, DoesWhatAMapDoes) {
  FlatMap<int> map;
  std::map<std::uint64_t, int> known;
  EXPECT_EQ(map.find(0), nullptr);
  std::mt19937_64 random(1);
  for (int i = 0; i < 20'000; ++i) {
    // Numbers that lie close together, far apart, and 0.
    const std::uint64_t key = i % 2 ? random() % 5000 : (random() % 3000) << 40;
    const auto [value, is_new] = map.add(key);
    EXPECT_EQ(is_new, !known.contains(key));
    *value = known[key] = i;
  }
  EXPECT_EQ(map.size(), known.size());
  map.erase_if([](int value) { return value % 3 == 0; });
  std::erase_if(known, [](const auto& each) { return each.second % 3 == 0; });
  EXPECT_EQ(map.size(), known.size());
  for (std::uint64_t key = 0; key < 5000; key += 3) {
    map.erase(key);
    map.erase(key << 40);
    known.erase(key);
    known.erase(key << 40);
  }
  EXPECT_EQ(map.size(), known.size());
  std::map<std::uint64_t, int> listed;
  map.for_each([&](std::uint64_t key, int value) { listed[key] = value; });
  EXPECT_EQ(listed, known);
  for (const auto& [key, value] : known) EXPECT_EQ(*map.find(key), value);
  EXPECT_EQ(map.find(5001), nullptr);
}
