// What traced threads record with. The context stands at each function.
#include "libcollector/trace/thread_block.h"

#include <linux/membarrier.h>
#include <sys/mman.h>

#include <atomic>
#include <cerrno>

#include "libcollector/core/atomic.h"
#include "libcollector/core/fork_generation.h"
#include "libcollector/core/syscall.h"
#include "libcollector/core/time.h"
#include "libcollector/target/thread_slots.h"
#include "libcollector/target/thread_stacks.h"

namespace gnomon::collector {

constinit thread_local ThreadBlock* own_block = nullptr;

namespace {

constinit std::atomic<ThreadBlock*> all_blocks = nullptr;
constinit std::atomic<ThreadBlock*> next_looked_at = nullptr;  // for one whose thread has ended
constinit std::atomic<std::uint32_t> owner = 0;  // fork_generation() of the process that has them

ThreadBlock* next_of(const ThreadBlock& block) {
  return reinterpret_cast<ThreadBlock*>(block.wait.next);
}

bool has_ended(std::uint32_t tid) {
  return raw_syscall(SYS_tgkill, raw_syscall(SYS_getpid), long{tid}, 0) == -ESRCH;
}

// Looks at some blocks only, because a program may have thousands of threads.
ThreadBlock* take_over_block(std::uint32_t tid) {
  constexpr int kLooks = 16;
  ThreadBlock* block = next_looked_at.load(std::memory_order_relaxed);
  for (int i = 0; i < kLooks; ++i) {
    if (!block) block = all_blocks.load(std::memory_order_acquire);
    if (!block) return nullptr;
    ThreadBlock* const next = next_of(*block);
    std::uint32_t before = atomic(block->tid).load(std::memory_order_relaxed);
    if (before != 0 && has_ended(before) &&
        atomic(block->tid).compare_exchange_strong(before, tid)) {
      next_looked_at.store(next, std::memory_order_relaxed);
      return block;
    }
    block = next;
  }
  next_looked_at.store(block, std::memory_order_relaxed);
  return nullptr;
}

ThreadBlock* new_block(std::uint32_t tid) {
  void* const memory = mmap(nullptr, sizeof(ThreadBlock), PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  if (madvise(memory, sizeof(ThreadBlock), MADV_WIPEONFORK) != 0) {
    munmap(memory, sizeof(ThreadBlock));
    return nullptr;
  }
  auto* const block = static_cast<ThreadBlock*>(memory);
  block->tid = tid;
  ThreadBlock* first = all_blocks.load(std::memory_order_relaxed);
  do block->wait.next = reinterpret_cast<std::uint64_t>(first);
  while (!all_blocks.compare_exchange_weak(first, block, std::memory_order_release));
  return block;
}

// In a fork child the blocks are the parent's, and zeroed.
void forget_blocks_of_parent() {
  const std::uint32_t own = fork_generation();
  std::uint32_t before = owner.load(std::memory_order_relaxed);
  if (before == own || !owner.compare_exchange_strong(before, own)) return;
  all_blocks.store(nullptr);
  next_looked_at.store(nullptr);
}

constinit bool has_membarrier = false;

// A thread that goes on after its look at the state of the recording has stored that it is busy
// before that. From here on all processors see the one, or that thread has seen the other.
void let_all_see() {
  constexpr timespec kMoment{0, 1'000'000};
  if (!has_membarrier || raw_syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) != 0)
    raw_syscall(SYS_nanosleep, arg(&kMoment), 0);
}

// Returns true if the thread's lanes are of that recording, or may be about to.
bool is_of(const ThreadBlock& block, std::uint32_t recording) {
  return atomic(block.recording).load(std::memory_order_acquire) == recording ||
         (atomic(block.busy).load(std::memory_order_acquire) != 0 &&
          atomic(block.entering).load(std::memory_order_acquire) == recording);
}

// Returns false if the thread is still busy with that recording at the `limit`, ns. The caller
// sleeps between its looks, so that the thread gets a CPU.
bool await_idle(const ThreadBlock& block, std::uint32_t recording, std::uint64_t limit) {
  constexpr timespec kMoment{0, 200'000};
  while (atomic(block.busy).load(std::memory_order_acquire) != 0 && is_of(block, recording)) {
    if (has_ended(atomic(block.tid).load(std::memory_order_relaxed))) return true;
    if (now(CLOCK_MONOTONIC) >= limit) return false;
    raw_syscall(SYS_nanosleep, arg(&kMoment), 0);
  }
  return true;
}

}  // namespace

std::uint64_t place_of_blocks() { return reinterpret_cast<std::uint64_t>(&all_blocks); }

// errno may be the program's next look at its last error.
ThreadBlock* claim_block() {
  const int saved_errno = errno;
  forget_blocks_of_parent();
  const auto tid = static_cast<std::uint32_t>(raw_syscall(SYS_gettid));
  ThreadBlock* block = take_over_block(tid);
  if (!block) block = new_block(tid);
  if (block) {
    block->wait = {block->wait.next, 0, 0, 0, tid};
    block->busy = block->entering = 0;
    block->stream = block->heap.slot = block->vforked = 0;
    for (std::uint64_t& piece : block->other_stacks) piece = 0;
    block->stack = current_thread ? current_thread->stack : running_stack(main_stack());
  }
  own_block = block;
  errno = saved_errno;
  return block;
}

void prepare_to_end(bool is_confined) {
  has_membarrier =
      !is_confined &&
      raw_syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0;
}

Kept write_out_blocks(Recorder& recorder) {
  constexpr std::uint64_t kPatience = 100'000'000;  // ns
  Kept kept;
  const std::uint32_t number = recorder.number();
  let_all_see();
  const std::uint64_t limit = now(CLOCK_MONOTONIC) + kPatience;
  for (ThreadBlock* block = all_blocks.load(std::memory_order_acquire); block;
       block = next_of(*block)) {
    const bool is_idle = await_idle(*block, number, limit);
    if (!is_of(*block, number)) continue;
    if (is_idle) {
      kept.is_written = recorder.write_out(block->lanes) && kept.is_written;
    } else {
      ++kept.threads;
      kept.events += Recorder::events_in(block->lanes);
    }
  }
  return kept;
}

}  // namespace gnomon::collector
