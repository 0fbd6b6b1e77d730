// Keeps load objects from being unloaded while the unwinder reads them. Any context; no lock.
#include "libcollector/core/loaded_hold.h"

#include <atomic>
#include <cstdint>

#include "libcollector/core/fork_generation.h"
#include "libcollector/core/syscall.h"
#include "libcollector/core/time.h"

namespace gnomon::collector {
namespace {

// How many threads of this process do something. A fork child begins at 0, because the threads that
// the parent counted do not exist there: the upper half is the generation, the lower the count.
class ThreadCount {
 public:
  void enter() {
    std::uint64_t old = word_.load();
    while (!word_.compare_exchange_weak(old, (old >> 32 == own() ? old : own() << 32) + 1)) {
    }
  }
  void leave() {
    std::uint64_t old = word_.load();
    while (old >> 32 == own() && !word_.compare_exchange_weak(old, old - 1)) {
    }
  }
  bool any() const {
    const std::uint64_t word = word_.load();
    return static_cast<std::uint32_t>(word) != 0 && word >> 32 == own();
  }

 private:
  static std::uint64_t own() { return fork_generation(); }

  std::atomic<std::uint64_t> word_ = 0;
};

constinit ThreadCount holding, unloading;

}  // namespace

// Each side counts itself first and then looks at the other's count, so that at least one of two
// sees the other.
bool LoadedHold::hold() {
  if (held_) return true;
  holding.enter();
  held_ = !unloading.any();
  if (!held_) holding.leave();
  return held_;
}

LoadedHold::~LoadedHold() {
  if (held_) holding.leave();
}

Unloading::Unloading() {
  constexpr std::uint64_t kPatience = 100'000'000;  // ns
  unloading.enter();
  if (!holding.any()) return;
  const std::uint64_t limit = now(CLOCK_MONOTONIC) + kPatience;
  while (holding.any() && now(CLOCK_MONOTONIC) < limit) raw_syscall(SYS_sched_yield);
}

Unloading::~Unloading() { unloading.leave(); }

}  // namespace gnomon::collector
