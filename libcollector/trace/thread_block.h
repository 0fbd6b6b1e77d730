// What a traced thread records with: its lanes and its call stacks. The context stands at each
// function.
#pragma once
#include <cstddef>
#include <cstdint>

#include "libcollector/core/byte_range.h"
#include "libcollector/record/recorder.h"
#include "libcollector/trace/stack_cache.h"

namespace gnomon::collector {

// Belongs to the thread whose id it has, until that has ended. A fork child sees it zeroed. While
// `busy` a call of the thread is being recorded: a call in a signal handler then leaves the rest
// alone.
struct ThreadBlock {
  format::ThreadWait wait;  // and the next of all blocks
  std::uint64_t busy;       // where that call's return address stands; 0: none is
  Recorder* recorder;       // whose lanes these are
  std::uint32_t tid;
  // Where the return address of the call about a stream stands that is under way, and which it is;
  // 0: none is.
  std::uint64_t stream, stream_caller;
  ByteRange stack;  // everything between the stack pointer and its end is mapped
  DataLanes lanes;
  StackCache stacks;
};
static_assert(offsetof(ThreadBlock, wait) == 0);

// The calling thread's block; null: it has none yet.
extern constinit thread_local ThreadBlock* own_block __attribute__((tls_model("initial-exec")));

// Gives the calling thread a block. Returns null if memory is short. Normal context, also in a
// signal handler: no lock, no heap.
ThreadBlock* claim_block();
// Where the address of the first of all blocks stands.
std::uint64_t place_of_blocks();
// Writes out what stands in the lanes of all threads. Nobody begins to record any more. Normal
// context.
bool write_out_blocks(Recorder& recorder);

}  // namespace gnomon::collector
