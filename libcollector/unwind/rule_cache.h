// Rule cache: pc -> unwind rule. Any context; lock-free, one load a look-up.
#pragma once
#include <cstdint>

#include "libcollector/unwind/rule.h"

namespace gnomon::collector {

// A word holds the rule (32 bits) and those 32 of the pc's 48 bits that the bucket number does not
// determine, so that a reader can never see half of an entry. A full bucket loses its oldest entry.
class RuleCache {
 public:
  static constexpr std::uint32_t kBucketBits = 16, kWays = 2;
  static constexpr std::uint64_t kBytes = (sizeof(std::uint64_t) * kWays) << kBucketBits;

  // `slots`: kBytes of zeroed memory. Normal context.
  void open(void* slots) { slots_ = static_cast<std::uint64_t*>(slots); }

  void clear() {
    for (std::uint64_t i = 0; i < kBytes / sizeof *slots_; ++i)
      __atomic_store_n(&slots_[i], 0, __ATOMIC_RELAXED);
  }

  // Returns the rule, or RuleKind::empty if it is not cached. pc: below 2^48.
  PackedRule find(std::uint64_t pc) const {
    const std::uint64_t mixed = mix(pc);
    std::uint64_t* bucket = bucket_of(mixed);
    for (std::uint32_t way = 0; way < kWays; ++way) {
      const std::uint64_t entry = __atomic_load_n(&bucket[way], __ATOMIC_RELAXED);
      if (entry >> 32 == mixed >> kBucketBits) return static_cast<PackedRule>(entry);
    }
    return 0;
  }

  // rule: not empty. pc: below 2^48.
  void put(std::uint64_t pc, PackedRule rule) {
    const std::uint64_t mixed = mix(pc);
    std::uint64_t* bucket = bucket_of(mixed);
    // The newest stands in front; the one it displaces keeps a place.
    __atomic_store_n(&bucket[1], __atomic_load_n(&bucket[0], __ATOMIC_RELAXED), __ATOMIC_RELAXED);
    __atomic_store_n(&bucket[0], (mixed >> kBucketBits) << 32 | rule, __ATOMIC_RELAXED);
  }

 private:
  static constexpr std::uint64_t kPcMask = (1ull << 48) - 1;
  // One to one on 48 bits: an odd factor and a shift-xor both are.
  static std::uint64_t mix(std::uint64_t pc) {
    const std::uint64_t x = pc * 0x9e3779b97f4a7c15ull & kPcMask;
    return x ^ x >> 24;
  }
  std::uint64_t* bucket_of(std::uint64_t mixed) const {
    return slots_ + kWays * (mixed & ((1ull << kBucketBits) - 1));
  }

  std::uint64_t* slots_ = nullptr;
};

}  // namespace gnomon::collector
