// The load objects in which frames have been seen. Any context; takes no lock.
#include "libcollector/objects/known_objects.h"

#include <algorithm>

namespace gnomon::collector {

void KnownObjects::remember(const LoadObject& object, std::uint64_t identity) {
  for (std::uint32_t i = 0; i < kMax; ++i) {
    Slot& slot = slots_[i];
    std::uint64_t version = slot.version.load(std::memory_order_relaxed);
    if (version % kPhases != kFree ||
        !slot.version.compare_exchange_strong(version, version + kFilling))
      continue;
    // Release: a reader that sees a new value here no longer sees the previous version.
    slot.begin.store(object.begin, std::memory_order_release);
    slot.end.store(object.end, std::memory_order_release);
    slot.identity.store(identity, std::memory_order_release);
    slot.version.store(version + kKnown, std::memory_order_release);
    std::uint32_t used = used_.load(std::memory_order_relaxed);
    while (used <= i && !used_.compare_exchange_weak(used, i + 1)) {
    }
    return;
  }
}

KnownObjects::Found KnownObjects::at(std::uint32_t i) const {
  const Slot& slot = slots_[i];
  const std::uint64_t version = slot.version.load(std::memory_order_acquire);
  if (version % kPhases != kKnown) return {};
  const Found found{i, version, slot.begin.load(std::memory_order_acquire),
                    slot.end.load(std::memory_order_acquire),
                    slot.identity.load(std::memory_order_acquire)};
  return slot.version.load(std::memory_order_relaxed) == version ? found : Found{};
}

KnownObjects::Found KnownObjects::find(std::uint64_t pc) const {
  for (std::uint32_t i = used(); i-- > 0;)
    if (const Found found = at(i); found && pc >= found.begin && pc < found.end) return found;
  return {};
}

bool KnownObjects::forget(const Found& found) {
  std::uint64_t version = found.version;
  return slots_[found.slot].version.compare_exchange_strong(version, version - kKnown + kPhases);
}

std::uint32_t KnownObjects::used() const { return used_.load(std::memory_order_acquire); }

}  // namespace gnomon::collector
