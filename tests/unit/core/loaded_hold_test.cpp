// dlclose and the unwinder: whoever comes first is waited for.
#include "libcollector/core/loaded_hold.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <thread>

using namespace gnomon::collector;

namespace {

bool may_hold() {
  LoadedHold hold;
  return hold.hold();
}

TEST(LoadedHoldTest, ThereIsNoneDuringAnUnload) {
  EXPECT_TRUE(may_hold());
  {
    const Unloading outer;
    EXPECT_FALSE(may_hold());
    { const Unloading inner; }
    EXPECT_FALSE(may_hold());
  }
  EXPECT_TRUE(may_hold());
}

// Returns false also if this thread does not run for longer than the unload is patient.
bool unload_comes_after_hold() {
  auto hold = std::make_unique<LoadedHold>();
  if (!hold->hold() || !hold->hold()) return false;
  std::atomic<bool> ended = false, ended_first = false;
  std::thread unloads([&] {
    const Unloading unloading;
    ended_first = ended.load();
  });
  while (may_hold()) std::this_thread::yield();
  ended = true;
  hold.reset();
  unloads.join();
  return ended_first;
}

TEST(LoadedHoldTest, AnUnloadWaitsUntilItEnds) {
  bool waited = false;
  for (int i = 0; i < 50 && !waited; ++i) waited = unload_comes_after_hold();
  EXPECT_TRUE(waited);
}

TEST(LoadedHoldTest, AnUnloadDoesNotWaitForEver) {
  LoadedHold hold;
  ASSERT_TRUE(hold.hold());
  const Unloading unloading;
  EXPECT_FALSE(may_hold());
}

TEST(LoadedHoldTest, AForkChildDoesNotWaitForThreadsOfItsParent) {
  LoadedHold hold;
  ASSERT_TRUE(hold.hold());
  const pid_t child = fork();
  if (child == 0) {
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < 100; ++i) const Unloading unloading;
    _exit(std::chrono::steady_clock::now() - begin < std::chrono::seconds(5) ? 0 : 1);
  }
  ASSERT_GT(child, 0);
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

}  // namespace
