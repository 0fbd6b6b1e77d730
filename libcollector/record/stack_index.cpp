// Where the nodes of a stack table are. Lock-free; any context.
#include "libcollector/record/stack_index.h"

#include <sys/mman.h>

#include "libcollector/core/atomic.h"
#include "libcollector/core/syscall.h"

namespace gnomon::collector {

StackIndex::Set* StackIndex::current(std::uint64_t hash) const {
  const std::uint32_t count = __atomic_load_n(&count_, __ATOMIC_ACQUIRE);
  return count == 0 ? nullptr : &tables_[count - 1][hash % sets_of(count - 1)];
}

void StackIndex::add(std::uint64_t hash, std::uint32_t node) {
  const std::uint32_t count = atomic(count_).load(std::memory_order_acquire);
  const std::uint64_t room = count == 0 ? 0 : sets_of(count - 1) * kWays / 2;
  if (atomic(added_).fetch_add(1, std::memory_order_relaxed) >= room && count < kTables)
    grow(count);
  Set* const set = current(hash);
  if (!set) return;
  // In a full set the new entry overwrites the entry at the place that the hash names.
  std::uint64_t* at = &set->entries[hash >> 29 & (kWays - 1)];
  for (std::uint64_t& entry : set->entries)
    if (atomic(entry).load(std::memory_order_relaxed) == 0) {
      at = &entry;
      break;
    }
  atomic(*at).store(tag_of(hash) | node, std::memory_order_release);
}

// Adds table number `table`, unless another thread has. Without memory the index stays as it is.
// The tables before it stay: another thread may be reading them.
void StackIndex::grow(std::uint32_t table) {
  const std::uint64_t bytes = sets_of(table) * sizeof(Set);
  const long at = raw_syscall(SYS_mmap, 0, static_cast<long>(bytes), PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (at < 0 && at > -4096) return;
  raw_syscall(SYS_madvise, at, static_cast<long>(bytes), MADV_HUGEPAGE);
  Set* there = nullptr;
  if (!atomic(tables_[table]).compare_exchange_strong(there, reinterpret_cast<Set*>(at)))
    raw_syscall(SYS_munmap, at, static_cast<long>(bytes));
  // Whoever added the table may never get here, because a signal handler left by longjmp.
  atomic(added_).store(0, std::memory_order_relaxed);
  std::uint32_t count = table;
  atomic(count_).compare_exchange_strong(count, table + 1, std::memory_order_acq_rel);
}

void StackIndex::clear() {
  for (unsigned i = 0; i < kTables; ++i)
    if (tables_[i])
      raw_syscall(SYS_munmap, reinterpret_cast<long>(tables_[i]),
                  static_cast<long>(sets_of(i) * sizeof(Set)));
  *this = {};
}

}  // namespace gnomon::collector
