// A cache that grows until what a thread asks for over and over fits.
#include "libcollector/trace/growing_cache.h"

#include <gtest/gtest.h>

namespace gnomon::collector {
namespace {

struct Known {
  std::uint64_t key, value;
};

// Returns how many of the keys [1, count] were not in the cache, of which all are afterwards.
std::uint64_t ask(GrowingCache<Known>& cache, std::uint64_t count) {
  std::uint64_t missed = 0;
  for (std::uint64_t key = 1; key <= count; ++key) {
    Known* known = cache.at(key);
    if (known->key == key) {
      EXPECT_EQ(known->value, 3 * key);
      continue;
    }
    ++missed;
    cache.missed();
    *cache.at(key) = {key, 3 * key};
  }
  return missed;
}

TEST(GrowingCache, GrowsUntilWhatIsAskedForFits) {
  GrowingCache<Known> cache{};
  constexpr std::uint64_t kKeys = 8'000;
  EXPECT_EQ(ask(cache, kKeys), kKeys);
  std::uint64_t missed = 0;
  for (int round = 0; round < 20; ++round) missed = ask(cache, kKeys);
  EXPECT_LT(missed, kKeys / 2);
  cache.clear();
  EXPECT_EQ(ask(cache, 10), 10u);
  cache.clear();
}

}  // namespace
}  // namespace gnomon::collector
