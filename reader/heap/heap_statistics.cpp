// What a program's allocations have in common. Any thread, one at a time.
#include "reader/heap/heap_statistics.h"

#include <bit>

namespace gnomon::reader {
namespace {

void operator+=(HeapAmount& amount, const HeapAmount& more) {
  amount.blocks += more.blocks;
  amount.bytes += more.bytes;
}

void operator-=(HeapAmount& amount, const HeapAmount& less) {
  amount.blocks -= less.blocks;
  amount.bytes -= less.bytes;
}

}  // namespace

HeapStatistics::PerStack& HeapStatistics::before_change(std::uint32_t stack) {
  PerStack& own = *by_stack_.add(stack).first;
  if (own.peak != peaks_) {
    own.at_peak = own.now;
    own.peak = peaks_;
  }
  return own;
}

void HeapStatistics::grow(const HeapBlock& block) {
  before_change(block.stack).now += block.amount;
  now_ += block.amount;
  if (now_.bytes <= peak_.bytes) return;
  peak_ = now_;
  peak_time_ = block.time;
  ++peaks_;
}

void HeapStatistics::add(const HeapBlock& block) {
  allocated_ += block.amount;
  by_size_[static_cast<std::size_t>(std::bit_width(block.size))] += block.amount;
  grow(block);
}

void HeapStatistics::free(const HeapBlock& block, std::uint64_t newest) {
  freed_ += block.amount;
  now_ -= block.amount;
  PerStack& own = before_change(block.stack);
  own.now -= block.amount;
  if (newest - block.number >= kSoon) return;
  temporary_ += block.amount;
  own.temporary += block.amount.blocks;
}

void HeapStatistics::keep(const HeapBlock& block, std::uint64_t newest) {
  freed_ -= block.amount;
  PerStack& own = before_change(block.stack);
  if (newest - block.number < kSoon) {
    temporary_ -= block.amount;
    own.temporary -= block.amount.blocks;
  }
  grow(block);
}

}  // namespace gnomon::reader
