// The load objects in which frames have been seen. Any context; takes no lock.
#pragma once
#include <atomic>
#include <cstdint>

#include "libcollector/objects/load_object.h"

namespace gnomon::collector {

class KnownObjects {
 public:
  static constexpr std::uint32_t kMax = 4096;

  struct Found {
    std::uint32_t slot = kMax;  // kMax: none
    std::uint64_t version = 0, begin = 0, end = 0, identity = 0;
    explicit operator bool() const { return slot != kMax; }
  };

  // identity: equal for equal files; 0 for an object that is never unloaded. An object that finds
  // no room is not remembered and will be reported again.
  void remember(const LoadObject& object, std::uint64_t identity);
  // Returns the object that contains `pc`.
  Found find(std::uint64_t pc) const;
  Found at(std::uint32_t slot) const;
  // Returns true to exactly one of the callers that forget the same object.
  bool forget(const Found& found);
  // Slots from this number on are empty.
  std::uint32_t used() const;

 private:
  // version: 4n free, 4n + 1 being filled, 4n + 2 known.
  struct Slot {
    std::atomic<std::uint64_t> version = 0, begin = 0, end = 0, identity = 0;
  };
  static constexpr std::uint64_t kFree = 0, kFilling = 1, kKnown = 2, kPhases = 4;

  Slot slots_[kMax] = {};
  std::atomic<std::uint32_t> used_ = 0;
};

}  // namespace gnomon::collector
