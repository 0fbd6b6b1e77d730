// Child processes that share the memory of the recorded one, as vfork(2) and clone(2) make them.
// They find the thread-local storage and the blocks of a thread of its, and what they do is not
// recorded. Any context.
#pragma once
#include <cstdint>

#include "libcollector/trace/thread_block.h"

namespace gnomon::collector {

// To be called before a thread of the process makes a child that shares its memory. on_own_stack:
// the thread waits until that has got memory of its own.
void note_sharing_child(bool on_own_stack);

// Returns true if the block's own thread stands on that frame, and the kernel need not be asked.
inline bool is_surely_own(const ThreadBlock& block, std::uint64_t frame) {
  return block.vforked == 0 && block.stack.contains(frame);
}
// Returns true if a child stands on that frame. Asks the kernel only where a child may stand: each
// question may end a program that has confined itself. block: the calling thread's, or null.
bool is_of_child(ThreadBlock* block, std::uint64_t frame, const Recorder& recorder);
// Returns true if the caller is such a child of the process whose calls are being recorded.
bool is_in_child();

}  // namespace gnomon::collector
