// What a recording's settings say about its length and size. In gnomon-sampler.
#include "libcollector/sampler/limits.h"

#include <algorithm>

#include "libcollector/core/atomic.h"

namespace gnomon::sampler {

using collector::atomic;
using format::Setting;

// Of the events: data files and lanes. Blocks of stacks are few beside them.
std::uint64_t Limits::bytes() const {
  std::uint64_t blocks = 0;
  for (const std::uint32_t& each : page_.blocks)
    blocks += atomic(const_cast<std::uint32_t&>(each)).load();
  return blocks * format::kBlockBytes;
}

// 0: the process waits until a debugger lets its recording begin.
std::uint64_t Limits::begin() const { return atomic(page_.start_time).load(); }

Limits::Due Limits::look(std::uint64_t now) {
  const std::uint64_t start = begin(), duration = settings_[Setting::duration],
                      delay = settings_[Setting::delay], most = settings_[Setting::size_limit];
  if (start == 0) return Due::nothing;
  if (duration != 0 && now >= start + duration) return Due::duration;
  constexpr auto kFull = static_cast<std::uint32_t>(format::PauseReason::size_limit);
  if (most != 0 && atomic(page_.pause_reason).load() != kFull && bytes() >= most) return Due::size;
  if (delay == 0 || is_delay_over_ || now < start + delay) return Due::nothing;
  is_delay_over_ = true;
  return Due::delay;
}

std::uint64_t Limits::next_look(std::uint64_t now) const {
  constexpr std::uint64_t kSizeLooks = 100'000'000, kStartLooks = 1'000'000;  // ns
  const std::uint64_t start = begin(), duration = settings_[Setting::duration],
                      delay = settings_[Setting::delay];
  std::uint64_t next = ~0ull;
  if (start == 0 && (duration != 0 || delay != 0)) return now + kStartLooks;
  if (duration != 0) next = start + duration;
  if (delay != 0 && !is_delay_over_) next = std::min(next, start + delay);
  if (settings_[Setting::size_limit] != 0) next = std::min(next, now + kSizeLooks);
  return next;
}

}  // namespace gnomon::sampler
