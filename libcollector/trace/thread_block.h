// What a traced thread records with: its lanes and its call stacks. The context stands at each
// function.
#pragma once
#include <cstddef>
#include <cstdint>

#include "libcollector/core/byte_range.h"
#include "libcollector/record/recorder.h"
#include "libcollector/trace/stack_cache.h"

namespace gnomon::collector {

// The call of a function that allocates or frees, which may call others of these: where its return
// address stands, and which it is. 0: none is under way.
struct OuterCall {
  std::uint64_t slot, caller;
};

// Belongs to the thread whose id it has, until that has ended. A fork child sees it zeroed. While
// `busy` a call of the thread is being recorded: nobody else touches the rest then, be it a call in
// a signal handler or whoever ends the recording.
struct ThreadBlock {
  format::ThreadWait wait;  // and the next of all blocks
  std::uint64_t busy;       // where that call's return address stands; 0: none is
  std::uint64_t vforked;    // 1: the thread may have a child that uses its stack and this block
  Recorder* recorder;       // whose lanes these are, while it has the number `recording`
  std::uint32_t recording;
  std::uint32_t entering;  // the recording that a busy thread is about to make its own; 0: none
  std::uint32_t tid;
  // Where the return address of the call about a stream stands that is under way, and which it is;
  // 0: none is.
  std::uint64_t stream, stream_caller;
  OuterCall heap;
  ByteRange stack;  // everything between the stack pointer and its end is mapped
  // Other memory on which this thread was seen to stand, as numbers of pieces of 64 KiB.
  std::uint64_t other_stacks[8];
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
// Threads that are in the middle of a call at the end, and their events, which stay in the file
// `lanes`.
struct Kept {
  std::uint32_t threads = 0, events = 0;
  bool is_written = true;  // false: some of the rest could not be written out
};
// Writes out what stands in the lanes of all threads but those. Waits a tenth of a second at most
// for threads to come out of their calls. The recording has stopped. Normal context, not in a
// traced call.
Kept write_out_blocks(Recorder& recorder);
// Lets write_out_blocks() know at once who is busy. Normal context.
void prepare_to_end(bool is_confined);

}  // namespace gnomon::collector
