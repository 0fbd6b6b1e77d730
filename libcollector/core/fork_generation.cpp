// Numbers the copies of this process's memory. Any context; no lock, no errno.
#include "libcollector/core/fork_generation.h"

#include <sys/mman.h>

#include "libcollector/core/syscall.h"

namespace gnomon::collector {
namespace {

using Word = std::atomic<std::uint32_t>;

constexpr long kWordPage = 4096;
constinit std::atomic<Word*> own_word = nullptr;  // in memory that a fork child sees zeroed
constinit Word highest = 0;                       // that was given out here and in all ancestors
constinit std::atomic<bool> is_memory_short = false;

Word* map_word() {
  const long memory = raw_syscall(SYS_mmap, 0, kWordPage, PROT_READ | PROT_WRITE,
                                  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory < 0 && memory > -kWordPage) return nullptr;
  Word* there = nullptr;
  auto* const word = reinterpret_cast<Word*>(memory);
  if (raw_syscall(SYS_madvise, memory, kWordPage, MADV_WIPEONFORK) == 0 &&
      own_word.compare_exchange_strong(there, word))
    return word;
  raw_syscall(SYS_munmap, memory, kWordPage);
  return there;
}

}  // namespace

// A number is taken before it is published, so that a child that is forked in between has another.
// Without memory the process id stands for the number, from the first look on.
std::uint32_t fork_generation() {
  Word* word = own_word.load(std::memory_order_acquire);
  if (!word && !is_memory_short) word = map_word();
  if (!word) {
    is_memory_short = true;
    return static_cast<std::uint32_t>(raw_syscall(SYS_getpid));
  }
  std::uint32_t known = word->load(std::memory_order_relaxed);
  if (known != 0) return known;
  const std::uint32_t fresh = highest.fetch_add(1) + 1;
  return word->compare_exchange_strong(known, fresh) ? fresh : known;
}

}  // namespace gnomon::collector
