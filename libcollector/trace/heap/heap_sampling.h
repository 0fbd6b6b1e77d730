// Which allocations are recorded when not all are: each byte with the same probability. In hooks:
// normal context and signal handlers; no lock, no heap, no errno, no system call.
#pragma once
#include <cstdint>

#include "libcollector/core/atomic.h"

namespace gnomon::collector {

struct HeapCountdown {
  std::int64_t left;     // bytes until the thread's next sample
  std::uint64_t random;  // 0: the thread has not begun
};
extern constinit thread_local HeapCountdown heap_countdown
    __attribute__((tls_model("initial-exec")));
// Bytes between two samples; 0: every allocation is recorded.
inline constinit std::uint64_t heap_sampling_mean = 0;

// Blocks that were recorded and are allocated: their frees are recorded, too. A bucket is a cache
// line. Where it is full the allocation is not recorded.
inline constexpr std::uint32_t kSampledBuckets = 8192, kSampledPerBucket = 8;
inline constinit std::uint8_t sampled_in_bucket[kSampledBuckets] = {};

inline std::uint32_t sampled_bucket(std::uint64_t address) {
  return static_cast<std::uint32_t>((address >> 4) * 0x9e3779b97f4a7c15ull >> 51);
}

bool ends_countdown();
bool note_sampled(std::uint64_t address);
bool forget_sampled(std::uint64_t address);

// Counts the allocation's bytes. Returns true if it is to be recorded.
inline bool takes_allocation(std::uint64_t size) {
  if (heap_sampling_mean == 0) [[likely]]
    return true;
  heap_countdown.left -= static_cast<std::int64_t>(size == 0 ? 1 : size);
  return heap_countdown.left < 0 && ends_countdown();
}

// Has the block's free recorded. Returns false if there is no room to note that.
inline bool keeps_sampled(std::uint64_t address) {
  return heap_sampling_mean == 0 || note_sampled(address);
}

// Returns true if the free is to be recorded.
inline bool takes_free(std::uint64_t address) {
  if (heap_sampling_mean == 0) [[likely]]
    return true;
  return atomic(sampled_in_bucket[sampled_bucket(address)]).load(std::memory_order_relaxed) != 0 &&
         forget_sampled(address);
}

}  // namespace gnomon::collector
