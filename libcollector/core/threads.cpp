// Threads of the program: a slot for each that is sampled. Normal context.
#include "libcollector/core/threads.h"

#include <sys/mman.h>

#include <atomic>

namespace gnomon::collector {

constinit thread_local Thread* current_thread = nullptr;

namespace {

constexpr std::uint32_t kChunk = 256;
constexpr std::uint32_t kChunks = 256;
constinit std::atomic<Thread*> chunks[kChunks] = {};
constinit std::atomic<std::uint32_t> next_hint = 0;

Thread* chunk_at(std::uint32_t index) {
  Thread* there = chunks[index].load(std::memory_order_acquire);
  if (there) return there;
  void* memory = mmap(nullptr, kChunk * sizeof(Thread), PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  if (chunks[index].compare_exchange_strong(there, static_cast<Thread*>(memory)))
    return static_cast<Thread*>(memory);
  munmap(memory, kChunk * sizeof(Thread));
  return there;
}

}  // namespace

// Slots freed last are near the hint, so programs that make many short threads stay in one chunk.
Thread* claim_thread() {
  const std::uint32_t hint = next_hint.load(std::memory_order_relaxed);
  for (std::uint32_t i = 0; i < kChunk * kChunks; ++i) {
    const std::uint32_t slot = (hint + i) % (kChunk * kChunks);
    Thread* chunk = chunk_at(slot / kChunk);
    if (!chunk) return nullptr;
    Thread& thread = chunk[slot % kChunk];
    std::uint32_t free = 0;
    if (std::atomic_ref(thread.used).compare_exchange_strong(free, 1)) {
      next_hint.store(slot + 1 == kChunk * kChunks ? 0 : slot + 1, std::memory_order_relaxed);
      thread.tid = 0;
      thread.adopting = 0;
      thread.parked = 0;
      thread.waiting = 0;
      thread.paused = 0;
      return &thread;
    }
  }
  return nullptr;
}

Thread* find_thread(std::uint32_t tid) {
  for (const auto& chunk : chunks)
    if (Thread* begin = chunk.load(std::memory_order_acquire))
      for (std::uint32_t i = 0; i < kChunk; ++i)
        if (std::atomic_ref(begin[i].used).load(std::memory_order_acquire) != 0 &&
            begin[i].tid == tid)
          return &begin[i];
  return nullptr;
}

void visit_threads(void (*visit)(Thread& thread, std::uint64_t word), std::uint64_t word) {
  for (const auto& chunk : chunks)
    if (Thread* begin = chunk.load(std::memory_order_acquire))
      for (std::uint32_t i = 0; i < kChunk; ++i)
        if (std::atomic_ref(begin[i].used).load(std::memory_order_acquire) != 0)
          visit(begin[i], word);
}

bool is_thread_slot(const void* address) {
  if (address && address == current_thread) return true;
  for (const auto& chunk : chunks) {
    const Thread* begin = chunk.load(std::memory_order_acquire);
    if (begin && address >= begin && address < begin + kChunk) return true;
  }
  return false;
}

void release_thread(Thread& thread) {
  std::uint32_t slot = 0;
  for (std::uint32_t c = 0; c < kChunks; ++c) {
    const Thread* chunk = chunks[c].load(std::memory_order_acquire);
    if (chunk && &thread >= chunk && &thread < chunk + kChunk)
      slot = c * kChunk + static_cast<std::uint32_t>(&thread - chunk);
  }
  next_hint.store(slot, std::memory_order_relaxed);
  std::atomic_ref(thread.used).store(0, std::memory_order_release);
}

}  // namespace gnomon::collector
