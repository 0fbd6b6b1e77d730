// Which allocations are recorded when not all are. In hooks: normal context and signal handlers.
#include "libcollector/trace/heap/heap_sampling.h"

#include <bit>

#include "libcollector/core/syscall.h"
#include "libcollector/trace/heap/heap_calls.h"
#include "libcollector/trace/tracer.h"

namespace gnomon::collector {

constinit thread_local HeapCountdown heap_countdown = {};

namespace {

constinit std::uint64_t sampled[kSampledBuckets][kSampledPerBucket] = {};

// Marsaglia, "Xorshift RNGs", 2003.
std::uint64_t next_random(std::uint64_t& random) {
  random ^= random << 13;
  random ^= random >> 7;
  return random ^= random << 17;
}

// Natural logarithm of x in (0, 1]. The mantissa's by artanh((m - 1) / (m + 1)), whose series is
// exact to 1e-7 up to the power of 9 for m within sqrt(2).
double logarithm(double x) {
  constexpr double kLn2 = 0.69314718055994531;
  const auto bits = std::bit_cast<std::uint64_t>(x);
  int exponent = static_cast<int>(bits >> 52) - 1023;
  double mantissa = std::bit_cast<double>((bits & 0xfffffffffffffull) | 1023ull << 52);
  if (mantissa > 1.4142135623730951) {
    mantissa /= 2;
    ++exponent;
  }
  const double t = (mantissa - 1) / (mantissa + 1), t2 = t * t;
  const double series = 1 + t2 * (1. / 3 + t2 * (1. / 5 + t2 * (1. / 7 + t2 * (1. / 9))));
  return exponent * kLn2 + 2 * t * series;
}

// The distance to the next sample of a Poisson process: exponentially distributed.
std::int64_t distance(std::uint64_t& random) {
  const double uniform =
      (static_cast<double>(next_random(random) >> 11) + 1) / 9007199254740992.0;  // 2^53
  const double bytes = -logarithm(uniform) * static_cast<double>(heap_sampling_mean);
  return static_cast<std::int64_t>(bytes) + 1;
}

void begin(std::uint64_t setting, Recorder&) {
  has_free_stacks = (setting & format::kFreeStacks) != 0;
  heap_sampling_mean = format::heap_mean(setting);
  for (std::uint32_t bucket = 0; bucket < kSampledBuckets; ++bucket) {
    sampled_in_bucket[bucket] = 0;
    for (std::uint64_t& each : sampled[bucket]) each = 0;
  }
}

GNOMON_TRACER(heap, begin);

}  // namespace

// The process has no memory: it makes no difference how far the last sample lies back.
bool ends_countdown() {
  HeapCountdown& own = heap_countdown;
  const bool has_begun = own.random != 0;
  if (!has_begun) {
    const auto tid = static_cast<std::uint64_t>(raw_syscall(SYS_gettid));
    own.random = (tid << 1 | 1) * 0x9e3779b97f4a7c15ull ^ __builtin_ia32_rdtsc();
    if (own.random == 0) own.random = 1;
    next_random(own.random);
  }
  const std::int64_t before = own.left;
  own.left = distance(own.random);
  if (has_begun) return true;
  own.left += before;  // the allocation that the thread has begun with
  return own.left < 0 && ends_countdown();
}

bool note_sampled(std::uint64_t address) {
  const std::uint32_t bucket = sampled_bucket(address);
  for (std::uint64_t& each : sampled[bucket]) {
    std::uint64_t none = 0;
    if (!atomic(each).compare_exchange_strong(none, address)) continue;
    atomic(sampled_in_bucket[bucket]).fetch_add(1);
    return true;
  }
  if (Recorder* const to = atomic(traced_recorder).load()) to->drop(format::Drop::heap_samples);
  return false;
}

bool forget_sampled(std::uint64_t address) {
  const std::uint32_t bucket = sampled_bucket(address);
  for (std::uint64_t& each : sampled[bucket]) {
    if (atomic(each).load(std::memory_order_relaxed) != address) continue;
    atomic(each).store(0);
    atomic(sampled_in_bucket[bucket]).fetch_sub(1);
    return true;
  }
  return false;
}

}  // namespace gnomon::collector
