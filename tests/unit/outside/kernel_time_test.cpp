// Which places share the time that a thread has spent in the kernel, as its own ticks and records
// of page faults tell.
#include "libcollector/outside/kernel_time.h"

#include <gtest/gtest.h>

#include <map>

#include "tests/unit/experiment/written.h"

namespace gnomon::outside {
namespace {

class KernelTimeTest : public testing::Test {
 protected:
  static constexpr std::uint32_t kThread = 7, kNumber = 3, kRead = 42, kWrite = 43, kTouch = 44;
  static constexpr std::uint64_t kMs = 1'000'000, kTick = 10 * kMs;

  void SetUp() override {
    ASSERT_EQ(directory_.open_path(place_.path().c_str()), 0);
    threads_.open(directory_);
    time.open(directory_, kTick);
  }
  void tick(std::uint32_t stack, int times = 1) {
    for (int i = 0; i < times; ++i) threads_.put(kNumber, stack);
  }
  // By stack, ns; of 0: not known where.
  std::map<std::uint32_t, std::uint64_t> split(std::uint64_t weight) {
    std::map<std::uint32_t, std::uint64_t> shares;
    for (const Rest& part : time.split({kThread, weight, format::ThreadState::system}, kNumber)) {
      EXPECT_EQ(part.thread, kThread);
      EXPECT_EQ(part.state, format::ThreadState::system);
      shares[part.stack] += part.weight;
    }
    return shares;
  }
  using Shares = std::map<std::uint32_t, std::uint64_t>;
  KernelTime time;

 private:
  test::Directory place_;
  collector::ExperimentDirectory directory_{};
  collector::KernelPlaces threads_{};
};

TEST_F(KernelTimeTest, WithoutAPlaceItStaysWhole) {
  EXPECT_EQ(split(50 * kMs), (Shares{{0, 50 * kMs}}));
}

TEST_F(KernelTimeTest, SystemCallsShareItByTheirTicks) {
  tick(kRead, 3);
  tick(kWrite);
  EXPECT_EQ(split(60 * kMs), (Shares{{kRead, 45 * kMs}, {kWrite, 15 * kMs}}));
  EXPECT_EQ(split(10 * kMs), (Shares{{0, 10 * kMs}})) << "ticks count once";
}

TEST_F(KernelTimeTest, OnlyTheLatestOfManyTicksAreKept) {
  tick(kRead, 20);
  tick(kWrite, 14);
  EXPECT_EQ(split(60 * kMs), (Shares{{kWrite, 60 * kMs}}));
}

TEST_F(KernelTimeTest, PageFaultsTakeWhatTicksDoNotStandFor) {
  tick(kRead, 2);
  time.add_faults(kThread, kTouch, 5000);
  EXPECT_EQ(split(60 * kMs), (Shares{{kRead, 20 * kMs}, {kTouch, 40 * kMs}}));
}

TEST_F(KernelTimeTest, FewPageFaultsAreNotMuch) {
  time.add_faults(kThread, kTouch, 10);
  EXPECT_EQ(split(60 * kMs), (Shares{{kTouch, kMs / 2}, {0, 60 * kMs - kMs / 2}}));
  time.add_faults(kThread, kTouch, 10);
  tick(kRead);
  EXPECT_EQ(split(60 * kMs), (Shares{{kTouch, kMs / 2}, {kRead, 60 * kMs - kMs / 2}}));
}

TEST_F(KernelTimeTest, ThreadsShareNothing) {
  tick(kRead);
  time.add_faults(kThread + 1, kTouch, 5000);
  EXPECT_EQ(split(30 * kMs), (Shares{{kRead, 30 * kMs}}));
}

}  // namespace
}  // namespace gnomon::outside
