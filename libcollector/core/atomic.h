// Atomic access to plain fields of mapped structs. Any context.
#pragma once
#include <atomic>

namespace gnomon::collector {

template <typename T>
std::atomic_ref<T> atomic(T& value) {
  return std::atomic_ref<T>(value);
}

}  // namespace gnomon::collector
