// The load objects met so far. Any context; takes no lock.
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

  // identity: the same for the same file; 0: never unloaded. An object that finds no room is met
  // again.
  void remember(const LoadObject& object, std::uint64_t identity);
  // The object that `pc` lies in.
  Found find(std::uint64_t pc) const;
  Found at(std::uint32_t slot) const;
  // True for the one caller that did it.
  bool forget(const Found& found);
  // No object beyond is known.
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
