// Samples that the kernel writes with another event's number.
#include "libcollector/outside/twins.h"

#include <gtest/gtest.h>

namespace gnomon {
namespace {

constexpr std::uint32_t kCpu = 1, kOtherCpu = 2;

outside::Origin origin(std::uint64_t event, std::uint64_t time, std::uint32_t thread,
                       std::uint32_t cpu) {
  outside::Origin origin;
  origin.event = event;
  origin.time = time;
  origin.thread = thread;
  origin.cpu = cpu;
  return origin;
}

TEST(Twins, SameEventThreadAndTimeIsOfAnother) {
  outside::Twins twins;
  EXPECT_FALSE(twins.is_of_another(origin(5, 1000, 7, kCpu)));
  EXPECT_FALSE(twins.is_of_another(origin(6, 1000, 8, kOtherCpu)));
  EXPECT_TRUE(twins.is_of_another(origin(5, 1000, 7, kCpu))) << "another CPU's came between";
  EXPECT_TRUE(twins.is_of_another(origin(5, 1000, 7, kCpu))) << "of a third event";
}

TEST(Twins, OthersAreTheirOwn) {
  outside::Twins twins;
  EXPECT_FALSE(twins.is_of_another(origin(5, 1000, 7, kCpu)));
  EXPECT_FALSE(twins.is_of_another(origin(6, 1000, 7, kCpu))) << "another event";
  EXPECT_FALSE(twins.is_of_another(origin(6, 1001, 7, kCpu))) << "another time";
  EXPECT_FALSE(twins.is_of_another(origin(6, 1001, 8, kCpu))) << "another thread";
}

}  // namespace
}  // namespace gnomon
