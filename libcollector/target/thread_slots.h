// Thread slots: one for each sampled thread of the program. Claimed in normal context, read in the
// signal handler of the slot's thread.
#pragma once
#include <cstdint>

#include "libcollector/core/byte_range.h"
#include "libcollector/core/mask_looks.h"

namespace gnomon::collector {

using StartRoutine = void* (*)(void*);

struct Thread {
  std::uint32_t used;      // 1: belongs to a thread
  std::uint32_t tid;       // 0: the thread does not run yet (see name_thread)
  std::uint32_t adopting;  // 1: the thread takes this slot at its first tick, because it ran before
                           // the recording
  std::uint32_t
      parked;  // not 0: no clock, because the thread blocks SIGPROF or may (attach_tasks.cpp)
  std::uint32_t ticking;  // 1: its clock runs; 2: its clock is being started
  std::uint32_t paused;   // 1: its clock has been paused since its last tick
  std::uint32_t ticked;   // 1: it had a tick since its clock was started
  std::int32_t timer;
  void* event;  // page of the task clock event that replaces the timer; null: the timer ticks
  std::uint32_t had_event;  // 1: its event has been closed for a pause
  std::uint32_t late;       // ticks of its timer that came far too late
  std::uint32_t in_handler;
  std::uint32_t mask_emulated;  // 1: blocks SIGPROF in the program's view only
  std::uint32_t waiting;        // 1: waits for signals, SIGPROF among them
  std::uint64_t first_due;      // CPU time at which its clock ticks first, ns
  std::uint64_t last_cpu;       // CPU time of the thread already accounted for, ns
  ByteRange stack;              // everything between the stack pointer and its end is mapped
  StartRoutine routine;
  void* argument;
  MaskLooks looks;           // used by the attach's helper thread while the thread is parked
  std::uint64_t open_since;  // CPU time, ns, at which it surely did not block SIGPROF; 0: unknown
};

// The calling thread's slot, null if the thread is not sampled. One word of static TLS, so that a
// signal handler may read it.
extern constinit thread_local Thread* current_thread __attribute__((tls_model("initial-exec")));

// Returns null if all slots are taken or memory is short.
Thread* claim_thread();
void release_thread(Thread& thread);
// Returns a slot, claimed or not, or null if `index` is beyond those in use.
Thread* slot_at(std::uint32_t index);
// Assigns a claimed slot to thread `tid`.
void name_thread(Thread& thread, std::uint32_t tid);
// Returns the slot of thread `tid`, or null if it has none.
Thread* find_thread(std::uint32_t tid);
// Makes the emulated mask the kernel's, in the calling thread, which is about to lose its slot. Any
// context.
void apply_emulated_mask(const Thread& thread);
// Calls visit(slot, word) for every slot that belongs to a thread now.
void visit_threads(void (*visit)(Thread& thread, std::uint64_t word), std::uint64_t word);
// Returns true if `address` is that of a slot, claimed or not. Any context.
bool is_thread_slot(const void* address);

}  // namespace gnomon::collector
