// Words of a mapped file that its writer may be storing. Any thread.
#pragma once
#include <atomic>

namespace gnomon::reader {

// What was stored before the word's release store is seen after this.
template <typename T>
T load(const T& word) {
  return std::atomic_ref<const T>(word).load(std::memory_order_acquire);
}

}  // namespace gnomon::reader
