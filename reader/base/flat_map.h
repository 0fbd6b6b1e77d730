// A hash map from numbers to small values, in one array: a hit touches one line of the cache, where
// std::unordered_map follows three pointers. Any thread, one at a time.
#pragma once
#include <cstddef>
#include <cstdint>
#include <utility>

#include "reader/base/large_vector.h"

namespace gnomon {

// Key: an unsigned type, of which any number but the largest. Value: default-constructible, and
// copied.
template <typename Value, typename Key = std::uint64_t>
class FlatMap {
 public:
  std::size_t size() const { return used_; }

  // Returns null if the map has no such key. The pointer is valid until the next `add`.
  const Value* find(Key key) const {
    if (slots_.empty()) return nullptr;
    const Slot& slot = slots_[place_of(key)];
    return slot.key == key ? &slot.value : nullptr;
  }
  Value* find(Key key) { return const_cast<Value*>(std::as_const(*this).find(key)); }

  // Returns the key's value, which is default-constructed if the key is new, and whether it is new.
  // The pointer is valid until the next `add`.
  std::pair<Value*, bool> add(Key key) {
    if (2 * (used_ + 1) > slots_.size()) grow();
    Slot& slot = slots_[place_of(key)];
    const bool is_new = slot.key == kNone;
    if (is_new) {
      slot.key = key;
      ++used_;
    }
    return {&slot.value, is_new};
  }

  // To be called a while before `find` or `add`, which then waits less for the memory.
  void prefetch(Key key) const {
    if (!slots_.empty()) __builtin_prefetch(&slots_[home_of(key)]);
  }

  // what(key, value), in no order.
  template <typename What>
  void for_each(What what) const {
    for (const Slot& slot : slots_)
      if (slot.key != kNone) what(slot.key, slot.value);
  }

  void erase(Key key) {
    if (slots_.empty()) return;
    std::size_t gap = place_of(key);
    if (slots_[gap].key == kNone) return;
    --used_;
    // What lies behind moves up, unless its search begins behind the gap.
    const std::size_t mask = slots_.size() - 1;
    for (std::size_t at = (gap + 1) & mask; slots_[at].key != kNone; at = (at + 1) & mask) {
      if (((at - home_of(slots_[at].key)) & mask) < ((at - gap) & mask)) continue;
      slots_[gap] = slots_[at];
      gap = at;
    }
    slots_[gap] = {};
  }

  // fits(value)
  template <typename Fits>
  void erase_if(Fits fits) {
    FlatMap kept;
    for_each([&](Key key, const Value& value) {
      if (!fits(value)) *kept.add(key).first = value;
    });
    *this = std::move(kept);
  }

 private:
  static constexpr Key kNone = static_cast<Key>(~Key{0});
  static constexpr std::size_t kFirst = 16;
  struct Slot {
    Key key = kNone;
    Value value{};
  };

  // The slot where a search for the key begins.
  std::size_t home_of(Key key) const {
    const std::uint64_t h = std::uint64_t{key} * 0x9e3779b97f4a7c15ull;
    return (h ^ h >> 32) & (slots_.size() - 1);
  }

  // The slot that has the key, or where it would be put.
  std::size_t place_of(Key key) const {
    std::size_t at = home_of(key);
    while (slots_[at].key != key && slots_[at].key != kNone) at = (at + 1) & (slots_.size() - 1);
    return at;
  }

  void grow() {
    LargeVector<Slot> before(slots_.empty() ? kFirst : 2 * slots_.size());
    before.swap(slots_);
    for (const Slot& slot : before)
      if (slot.key != kNone) slots_[place_of(slot.key)] = slot;
  }

  LargeVector<Slot> slots_;  // a power of two of them, at most half of them used
  std::size_t used_ = 0;
};

}  // namespace gnomon
