// Child processes that share the memory of the recorded one. Any context.
#include "libcollector/trace/sharing.h"

#include <atomic>

#include "libcollector/target/recording.h"
#include "libcollector/trace/trace.h"

namespace gnomon::collector {
namespace {

// There was a child with a stack of its own, which may lie where a thread's stack was before.
constinit std::atomic<bool> may_be_anywhere = false;

bool is_process_of(const Recorder& recorder) { return role_beside(recorder) == Role::recorded; }

}  // namespace

void note_sharing_child(bool on_own_stack) {
  Recorder* const to = atomic(traced_recorder).load(std::memory_order_acquire);
  if (!to) return;
  if (!on_own_stack) may_be_anywhere = true;
  if (!on_own_stack || is_in_child()) return;
  ThreadBlock* block = own_block;
  if ((!block || block->tid == 0) && to->takes_events()) block = claim_block();
  if (block) block->vforked = 1;
}

bool is_of_child(ThreadBlock* block, std::uint64_t frame, const Recorder& recorder) {
  if (!block || block->tid == 0) return !is_process_of(recorder);
  if (block->vforked != 0) {
    if (!is_process_of(recorder)) return true;
    block->vforked = 0;
  }
  if (block->stack.contains(frame)) return false;
  const std::uint64_t piece = frame >> 16;
  std::uint64_t& known = block->other_stacks[piece % std::size(block->other_stacks)];
  if (known == piece && !may_be_anywhere) return false;
  if (is_process_of(recorder)) {
    known = piece;
    return false;
  }
  may_be_anywhere = true;
  return true;
}

bool is_in_child() {
  const auto frame = reinterpret_cast<std::uint64_t>(__builtin_frame_address(0));
  ThreadBlock* const block = own_block;
  if (block && block->tid != 0 && is_surely_own(*block, frame)) [[likely]]
    return false;
  const Recorder* const to = atomic(traced_recorder).load(std::memory_order_acquire);
  return to && to->control() && to->recording() && is_of_child(block, frame, *to);
}

}  // namespace gnomon::collector
