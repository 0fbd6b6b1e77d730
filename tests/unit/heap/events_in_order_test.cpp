// Events of many threads, taken out in order of their times.
#include "reader/heap/events_in_order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace gnomon::reader {
namespace {

struct Numbered {
  std::uint64_t time = 0, number = 0;
  bool operator==(const Numbered&) const = default;
};

TEST(EventsInOrder, AreTakenAsAStableSortHasThem) {
  std::mt19937_64 random(7);
  std::vector<Numbered> waiting;
  EventsInOrder<Numbered> events;
  std::uint64_t number = 0, limit = 0;
  for (int round = 0; round < 60; ++round) {
    // Each round adds one piece of rising times; the piece of round 30 is longer than a run.
    std::uint64_t time = limit + random() % 1000;
    for (std::size_t i = round == 30 ? 30'000 : random() % 400; i > 0; --i) {
      time += random() % 3;
      waiting.push_back({time, number});
      events.add(waiting.back());
      ++number;
    }
    limit += random() % 300;
    std::stable_sort(waiting.begin(), waiting.end(),
                     [](const Numbered& a, const Numbered& b) { return a.time < b.time; });
    const auto end = std::find_if(waiting.begin(), waiting.end(),
                                  [&](const Numbered& event) { return event.time >= limit; });
    std::vector<Numbered> taken;
    events.take_until(limit, [&](const Numbered& event) { taken.push_back(event); });
    ASSERT_EQ(taken, std::vector<Numbered>(waiting.begin(), end));
    waiting.erase(waiting.begin(), end);
    ASSERT_EQ(events.size(), waiting.size());
  }
  EXPECT_GT(number, 30'000u);
}

}  // namespace
}  // namespace gnomon::reader
