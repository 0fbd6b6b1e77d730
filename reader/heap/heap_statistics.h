// What a program's allocations have in common: their sizes, the peak, and those that did not last.
// Any thread, one at a time.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>

#include "reader/base/flat_map.h"

namespace gnomon::reader {

struct HeapAmount {
  std::uint64_t blocks = 0, bytes = 0;
};

struct HeapBlock {
  std::uint64_t time = 0;  // when it was allocated
  std::uint64_t size = 0;  // bytes
  // What it stands for: itself, or also those that sampling left out.
  HeapAmount amount;
  std::uint64_t number = 0;  // of allocations, in order of time
  std::uint32_t stack = 0;
  bool is_chosen = false;
};

class HeapStatistics {
 public:
  // A block that is freed before that many others were allocated is a temporary one.
  static constexpr std::uint64_t kSoon = 10;
  // Sizes of 2^(i-1) to 2^i - 1 bytes; the first is 0.
  static constexpr std::size_t kSizes = 65;

  // In order of time. newest: number of the latest allocation.
  void add(const HeapBlock& block);
  void free(const HeapBlock& block, std::uint64_t newest);
  // The block that was given to `free` is not free after all.
  void keep(const HeapBlock& block, std::uint64_t newest);

  const HeapAmount& allocated() const { return allocated_; }
  const HeapAmount& freed() const { return freed_; }
  const HeapAmount& temporary() const { return temporary_; }
  // The largest sum of bytes that was allocated at a time, and when that was first: ns.
  const HeapAmount& peak() const { return peak_; }
  std::uint64_t peak_time() const { return peak_time_; }
  const std::array<HeapAmount, kSizes>& by_size() const { return by_size_; }
  // Calls visit(stack, amount) for each call stack that had blocks at the peak, in no order.
  template <typename Visit>
  void each_at_peak(Visit visit) const {
    by_stack_.for_each([&](std::uint32_t stack, const PerStack& each) {
      const HeapAmount& then = each.peak == peaks_ ? each.at_peak : each.now;
      if (then.blocks != 0) visit(stack, then);
    });
  }
  // Temporary allocations of a call stack.
  std::uint64_t temporary_of(std::uint32_t stack) const {
    const PerStack* const found = by_stack_.find(stack);
    return found ? found->temporary : 0;
  }

 private:
  // at_peak: what it had at peak number `peak`, if that is still the latest; else it has not
  // changed since that.
  struct PerStack {
    HeapAmount now, at_peak;
    std::uint64_t peak = 0;
    std::uint64_t temporary = 0;
  };
  PerStack& before_change(std::uint32_t stack);
  void grow(const HeapBlock& block);

  HeapAmount now_, allocated_, freed_, temporary_, peak_;
  std::uint64_t peak_time_ = 0;
  std::uint64_t peaks_ = 0;  // how often the sum was larger than ever before
  std::array<HeapAmount, kSizes> by_size_{};
  FlatMap<PerStack, std::uint32_t> by_stack_;
};

}  // namespace gnomon::reader
