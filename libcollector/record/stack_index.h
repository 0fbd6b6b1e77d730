// Where the nodes of a stack table are: a cache in memory, because each step down the tree in the
// file waits for memory. Lock-free; any context.
#pragma once
#include <cstdint>

namespace gnomon::collector {

// Lives in zeroed memory: no constructor, all-zero is an empty index. It may forget a node, so who
// does not find a node here looks for it in the tree.
class StackIndex {
 public:
  // Returns the first node under `hash` that `fits` accepts, 0 if there is none. fits(node)
  template <typename Fits>
  std::uint32_t find(std::uint64_t hash, Fits fits) const;
  void add(std::uint64_t hash, std::uint32_t node);
  // Gives the memory back. Nobody uses the index meanwhile.
  void clear();

 private:
  static constexpr unsigned kWays = 8;  // entries of a set, which is one line of the cache
  static constexpr unsigned kTables = 6;
  struct alignas(64) Set {
    std::uint64_t entries[kWays];  // upper half: of the hash; lower half: node, 0: free
  };
  // Table i has 4^i times as many sets as the first.
  static constexpr std::uint64_t sets_of(unsigned table) { return std::uint64_t{512} << 2 * table; }
  static constexpr std::uint64_t tag_of(std::uint64_t hash) { return hash >> 32 << 32; }

  Set* current(std::uint64_t hash) const;
  void grow(std::uint32_t table);

  Set* tables_[kTables];
  std::uint32_t count_;  // of tables; the last is in use
  std::uint32_t added_;  // entries of the last
};

template <typename Fits>
std::uint32_t StackIndex::find(std::uint64_t hash, Fits fits) const {
  Set* const set = current(hash);
  if (!set) return 0;
  for (std::uint64_t& entry : set->entries) {
    const std::uint64_t there = __atomic_load_n(&entry, __ATOMIC_ACQUIRE);
    if (tag_of(there) != tag_of(hash)) continue;
    const auto node = static_cast<std::uint32_t>(there);
    if (node != 0 && fits(node)) return node;
  }
  return 0;
}

}  // namespace gnomon::collector
