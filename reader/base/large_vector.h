// Vectors that may grow to many megabytes. Any thread.
#pragma once
#include <sys/mman.h>

#include <cstddef>
#include <cstdlib>
#include <new>
#include <vector>

namespace gnomon {

// Asks the kernel for huge pages where an allocation can hold one: an array that is filled once
// costs a page fault per 2 MiB then, not per 4 KiB, and a random access misses the TLB less.
template <typename T>
struct LargeAllocator {
  using value_type = T;
  LargeAllocator() = default;
  template <typename U>
  LargeAllocator(const LargeAllocator<U>&) {}

  T* allocate(std::size_t count) {
    if (count > kMost) throw std::bad_array_new_length();
    const std::size_t bytes = count * sizeof(T);
    if (bytes < kHugePage) return static_cast<T*>(::operator new(bytes));
    void* const memory = std::aligned_alloc(kHugePage, whole_pages(bytes));
    if (!memory) throw std::bad_alloc();
    // Where the kernel refuses, its ordinary pages do.
    (void)::madvise(memory, whole_pages(bytes), MADV_HUGEPAGE);
    return static_cast<T*>(memory);
  }

  void deallocate(T* memory, std::size_t count) {
    if (count * sizeof(T) < kHugePage) return ::operator delete(memory);
    std::free(memory);
  }

  bool operator==(const LargeAllocator&) const { return true; }

 private:
  static constexpr std::size_t kHugePage = std::size_t{2} << 20;
  static constexpr std::size_t kMost = ~std::size_t{0} / 4 / sizeof(T);
  static constexpr std::size_t whole_pages(std::size_t bytes) {
    return (bytes + kHugePage - 1) / kHugePage * kHugePage;
  }
};

template <typename T>
using LargeVector = std::vector<T, LargeAllocator<T>>;

}  // namespace gnomon
