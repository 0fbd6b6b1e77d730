// What hooks of functions that allocate have in common. In hooks: normal context, also in signal
// handlers of programs that allocate there; no lock, no heap, no errno.
#pragma once
#include <cstddef>
#include <cstdint>

#include "libcollector/hook/hook.h"
#include "libcollector/trace/heap/heap_sampling.h"
#include "libcollector/trace/trace.h"

namespace gnomon::collector {

inline std::uint64_t number(const void* memory) { return reinterpret_cast<std::uint64_t>(memory); }

// A block that is given back gets the call stack of that call.
inline constinit bool has_free_stacks = false;
// What is bound only where the same object defines malloc is bound beside this.
extern constinit NextSymbol<void* (*)(std::size_t)> real_malloc;

// A call of such a function, from its begin on. What it calls of the others in turn is a part of
// it: an allocator's functions may reach each other by the program's own bindings.
class HeapCall {
 public:
  explicit HeapCall(const Call& call) : call_(call) {
    ThreadBlock* block = own_block;
    if (!block && is_tracing()) [[unlikely]]
      block = claim_block();
    if (!block || !is_surely_own(*block, call.slot)) return;
    OuterCall& outer = block->heap;
    // One that an exception has left keeps its mark until other calls overwrite the place.
    is_inside_ = outer.slot > call.slot && block->stack.contains(outer.slot) &&
                 *reinterpret_cast<const std::uint64_t*>(outer.slot) == outer.caller;
    if (is_inside_) return;
    outer_ = &outer;
    outer = {call.slot, call.pc};
  }
  ~HeapCall() {
    if (outer_) outer_->slot = 0;
  }
  HeapCall(const HeapCall&) = delete;
  HeapCall& operator=(const HeapCall&) = delete;

  // To be called behind the original: another thread that gets the block later has a later time.
  // Returns the block.
  void* allocated(void* memory, std::size_t size) const {
    if (!memory || is_inside_ || !takes_allocation(size)) return memory;
    if (TracedCall traced(call_); traced && !traced.takes_frees_only()) {
      const std::uint64_t time = time_after();
      format::HeapAllocation record{};
      record.stack = traced.stack();
      record.size = size;
      if (record.stack != 0 && keeps_sampled(number(memory)))
        traced.put_compact<format::kHeapAllocation>(time, number(memory), record);
    }
    return memory;
  }

  // To be called before the original: the block may be another thread's before that returns.
  // Returns true if the block's allocation was to be recorded.
  bool frees(const void* memory) const {
    if (!memory || is_inside_ || !takes_free(number(memory))) return false;
    put<format::kHeapFree>(memory, has_free_stacks);
    return true;
  }

  // The block that was to be given back is still allocated.
  void keeps(const void* memory) const {
    if (keeps_sampled(number(memory))) put<format::kHeapKept>(memory, false);
  }

 private:
  template <std::uint8_t Kind>
  void put(const void* memory, bool has_stack) const {
    TracedCall traced(call_);
    if (!traced) return;
    const std::uint64_t time = time_before();
    format::HeapFree record{};
    if (has_stack) record.stack = traced.stack();
    traced.put_compact<Kind>(time, number(memory), record);
  }

  const Call call_;
  OuterCall* outer_ = nullptr;  // the mark, if that is this one's
  bool is_inside_ = false;
};

// allocate: the original. Returns the block.
template <typename Allocate>
void* traced_allocation(const Call& call, std::size_t size, Allocate allocate) {
  const HeapCall heap(call);
  return heap.allocated(allocate(), size);
}

template <typename Free>
void traced_free(const Call& call, const void* memory, Free free_it) {
  const HeapCall heap(call);
  heap.frees(memory);
  free_it();
}

// Gives the block back and gets another one, which may be the same. frees_if_failed: where there is
// no other one.
template <typename Reallocate>
void* traced_reallocation(const Call& call, const void* memory, std::size_t size,
                          bool frees_if_failed, Reallocate reallocate) {
  const HeapCall heap(call);
  const bool was_noted = heap.frees(memory);
  void* const fresh = reallocate();
  if (!fresh && was_noted && !frees_if_failed) heap.keeps(memory);
  return heap.allocated(fresh, size);
}

}  // namespace gnomon::collector
