// Blocks of memory of a recorded program. Any thread, one at a time.
#include "reader/heap/heap_blocks.h"

#include <algorithm>

namespace gnomon::reader {

void HeapBlocks::add(const HeapEvent& event, std::uint64_t begin) {
  waiting_.add(event);
  newest_ = std::max(newest_, event.time);
  newest_begin_ = std::max(newest_begin_, begin);
  if (waiting_.size() % kManyWaiting == 0 && newest_begin_ > kSlack)
    apply_until(newest_begin_ - kSlack);
}

void HeapBlocks::settle() {
  apply_until(~std::uint64_t{0});
  // While the program runs, a thread's free may be read before another one's allocation.
  constexpr std::uint64_t kLate = 5'000'000'000;  // ns
  early_frees_.erase_if([&](std::uint64_t time) { return time + kLate < newest_; });
}

// Equal times are of one thread, in its order: a free that is part of a realloc comes first.
void HeapBlocks::apply_until(std::uint64_t time) {
  waiting_.take_until(time, [&](const HeapEvent& event) { apply(event); });
}

void HeapBlocks::apply(const HeapEvent& event) {
  if (event.change == HeapChange::freed) return free(event);
  if (event.change == HeapChange::kept) return keep(event);
  if (const std::uint64_t* freed = early_frees_.find(event.address);
      freed && *freed >= event.time) {
    early_frees_.erase(event.address);
    return;
  }
  const HeapBlock block{event.time,     event.size,  event.amount,
                        ++allocations_, event.stack, event.is_chosen};
  const auto [at, is_new] = live_.add(event.address);
  if (!is_new) {
    ++missed_frees_;
    if (at->is_chosen) statistics_.free(*at, allocations_);
  }
  *at = block;
  if (block.is_chosen) statistics_.add(block);
}

void HeapBlocks::free(const HeapEvent& event) {
  const HeapBlock* const block = live_.find(event.address);
  if (!block) {
    *early_frees_.add(event.address).first = event.time;
    return;
  }
  if (block->is_chosen) statistics_.free(*block, allocations_);
  freed_[next_freed_++ % freed_.size()] = {event.address, *block};
  live_.erase(event.address);
}

void HeapBlocks::keep(const HeapEvent& event) {
  early_frees_.erase(event.address);
  for (std::size_t back = 1; back <= freed_.size(); ++back) {
    Freed& latest = freed_[(next_freed_ - back) % freed_.size()];
    if (latest.address != event.address) continue;
    *live_.add(event.address).first = latest.block;
    if (latest.block.is_chosen) statistics_.keep(latest.block, allocations_);
    latest.address = 0;
    return;
  }
}

}  // namespace gnomon::reader
