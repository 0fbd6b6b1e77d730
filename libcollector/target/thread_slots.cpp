// Thread slots: one for each sampled thread of the program. Normal context.
#include "libcollector/target/thread_slots.h"

#include <signal.h>
#include <sys/mman.h>

#include <atomic>

#include "libcollector/core/signal_action.h"
#include "libcollector/core/syscall.h"

namespace gnomon::collector {

constinit thread_local Thread* current_thread = nullptr;

namespace {

constexpr std::uint32_t kChunk = 256;
constexpr std::uint32_t kChunks = 256;
// The thread ids stand together, apart from the slots, so that a search touches little memory.
struct Chunk {
  std::uint32_t tids[kChunk];
  Thread threads[kChunk];
};
constinit std::atomic<Chunk*> chunks[kChunks] = {};
constinit std::atomic<std::uint32_t> next_hint = 0;

Chunk* chunk_at(std::uint32_t index) {
  Chunk* there = chunks[index].load(std::memory_order_acquire);
  if (there) return there;
  void* memory =
      mmap(nullptr, sizeof(Chunk), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  if (chunks[index].compare_exchange_strong(there, static_cast<Chunk*>(memory)))
    return static_cast<Chunk*>(memory);
  munmap(memory, sizeof(Chunk));
  return there;
}

struct Place {
  Chunk* chunk;
  std::uint32_t number, index;
};
Place place_of(const Thread& thread) {
  for (std::uint32_t c = 0; c < kChunks; ++c) {
    Chunk* chunk = chunks[c].load(std::memory_order_acquire);
    if (chunk && &thread >= chunk->threads && &thread < chunk->threads + kChunk)
      return {chunk, c, static_cast<std::uint32_t>(&thread - chunk->threads)};
  }
  return {};
}

}  // namespace

// The search begins near the slot freed last, so programs that make many short threads stay in one
// chunk.
Thread* claim_thread() {
  const std::uint32_t hint = next_hint.load(std::memory_order_relaxed);
  for (std::uint32_t i = 0; i < kChunk * kChunks; ++i) {
    const std::uint32_t slot = (hint + i) % (kChunk * kChunks);
    Chunk* chunk = chunk_at(slot / kChunk);
    if (!chunk) return nullptr;
    Thread& thread = chunk->threads[slot % kChunk];
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

Thread* slot_at(std::uint32_t index) {
  if (index >= kChunk * kChunks) return nullptr;
  Chunk* chunk = chunks[index / kChunk].load(std::memory_order_acquire);
  return chunk ? &chunk->threads[index % kChunk] : nullptr;
}

void name_thread(Thread& thread, std::uint32_t tid) {
  thread.tid = tid;
  if (const Place place = place_of(thread); place.chunk)
    std::atomic_ref(place.chunk->tids[place.index]).store(tid, std::memory_order_release);
}

Thread* find_thread(std::uint32_t tid) {
  for (const auto& at : chunks)
    if (Chunk* chunk = at.load(std::memory_order_acquire))
      for (std::uint32_t i = 0; i < kChunk; ++i) {
        if (std::atomic_ref(chunk->tids[i]).load(std::memory_order_relaxed) != tid) continue;
        Thread& thread = chunk->threads[i];
        if (std::atomic_ref(thread.used).load(std::memory_order_acquire) != 0 && thread.tid == tid)
          return &thread;
      }
  return nullptr;
}

void apply_emulated_mask(const Thread& thread) {
  if (!thread.mask_emulated) return;
  const std::uint64_t tick = signal_bit(SIGPROF);
  raw_syscall(SYS_rt_sigprocmask, SIG_BLOCK, arg(&tick), 0, kSignalMaskBytes);
}

void visit_threads(void (*visit)(Thread& thread, std::uint64_t word), std::uint64_t word) {
  for (const auto& at : chunks)
    if (Chunk* chunk = at.load(std::memory_order_acquire))
      for (Thread& thread : chunk->threads)
        if (std::atomic_ref(thread.used).load(std::memory_order_acquire) != 0) visit(thread, word);
}

bool is_thread_slot(const void* address) {
  if (address && address == current_thread) return true;
  for (const auto& at : chunks) {
    const Chunk* chunk = at.load(std::memory_order_acquire);
    if (chunk && address >= chunk->threads && address < chunk->threads + kChunk) return true;
  }
  return false;
}

void release_thread(Thread& thread) {
  const Place place = place_of(thread);
  next_hint.store(place.number * kChunk + place.index, std::memory_order_relaxed);
  std::atomic_ref(thread.used).store(0, std::memory_order_release);
}

}  // namespace gnomon::collector
