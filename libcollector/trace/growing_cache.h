// A cache of one thread that grows with what the thread asks for. In a hook, one call at a time.
#pragma once
#include <sys/mman.h>

#include <cstdint>

#include "libcollector/core/syscall.h"

namespace gnomon::collector {

// All-zero memory is an empty Entry, and an empty cache. The memory that holds the cache must be
// zeroed in a fork child (MADV_WIPEONFORK): the child does not inherit the table of entries.
template <typename Entry>
class GrowingCache {
 public:
  // Returns where an entry with this hash stands, if it stands in the cache. Null: memory is short.
  Entry* at(std::uint64_t hash) {
    if (table_ == 0) grow(kFirstBits);
    if (table_ == 0) return nullptr;
    return &entries()[hash * 0x9e3779b97f4a7c15ull >> (64 - bits())];
  }
  // To be called when `at` has led to another entry. Entries that were returned before are gone.
  void missed() {
    if (++misses_ > std::uint32_t{4} << bits() && bits() < kMostBits) grow(bits() + 2);
  }
  void clear() {
    const std::uint64_t old = table_;
    table_ = 0;
    give_back(old);
  }

 private:
  static constexpr unsigned kFirstBits = 10, kMostBits = 16;

  unsigned bits() const { return table_ % 4096; }
  Entry* entries() const { return reinterpret_cast<Entry*>(table_ - bits()); }
  static void give_back(std::uint64_t table) {
    if (table == 0) return;
    const unsigned bits = table % 4096;
    raw_syscall(SYS_munmap, static_cast<long>(table - bits),
                static_cast<long>(sizeof(Entry) << bits));
  }
  void grow(unsigned bits) {
    misses_ = 0;
    const auto bytes = static_cast<long>(sizeof(Entry) << bits);
    const long memory =
        raw_syscall(SYS_mmap, 0, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory < 0 && memory > -4096) return;
    raw_syscall(SYS_madvise, memory, bytes, MADV_DONTFORK);
    const std::uint64_t old = table_;
    table_ = static_cast<std::uint64_t>(memory) | bits;
    give_back(old);
  }

  // Where the entries begin, at a page, and how many bits of the hash choose one of them: one word,
  // so that a signal handler that is left by longjmp cannot part them.
  std::uint64_t table_;
  std::uint32_t misses_;
};

}  // namespace gnomon::collector
