// Threads of the program: a slot for each that is sampled. Claimed in normal context, read in the
// signal handler of the thread it belongs to.
#pragma once
#include <cstdint>

#include "libcollector/core/byte_range.h"
#include "libcollector/core/mask_looks.h"

namespace gnomon::collector {

using StartRoutine = void* (*)(void*);

struct Thread {
  std::uint32_t used;      // 1: belongs to a thread
  std::uint32_t tid;       // 0: the thread does not run yet (name_thread)
  std::uint32_t adopting;  // the thread ran before it was sampled: its first tick gives it the slot
  std::uint32_t parked;    // it blocks SIGPROF, or may, and so has no clock (attach_tasks.cpp)
  std::uint32_t ticking;   // 1: its clock runs; 2: it is being started
  std::uint32_t paused;    // its clock has stood still since its last tick
  std::uint32_t ticked;    // at least once since its clock started
  std::int32_t timer;
  void* event;  // page of its task clock event, which has taken the timer's place; null: none
  std::uint32_t in_handler;
  std::uint32_t mask_emulated;  // the program believes this thread to block SIGPROF
  std::uint32_t waiting;        // for signals, SIGPROF among them
  std::uint64_t first_due;      // CPU time at which its clock ticks first, ns
  std::uint64_t last_cpu;       // CPU time of the thread already accounted for, ns
  ByteRange stack;              // from its stack pointer to the end everything is mapped
  StartRoutine routine;
  void* argument;
  MaskLooks looks;           // while it is parked, by the attach's helper thread
  std::uint64_t open_since;  // CPU time at which it did not block SIGPROF, ns; 0: none is known
};

// The calling thread's slot; null: not sampled. One word of static TLS, so a handler may read it.
extern constinit thread_local Thread* current_thread __attribute__((tls_model("initial-exec")));

// Null: all slots are taken or memory is short.
Thread* claim_thread();
void release_thread(Thread& thread);
// Whose a claimed slot is.
void name_thread(Thread& thread, std::uint32_t tid);
// The slot of thread `tid`; null: it has none.
Thread* find_thread(std::uint32_t tid);
// Every slot that belongs to a thread at this moment.
void visit_threads(void (*visit)(Thread& thread, std::uint64_t word), std::uint64_t word);
// True of the address of a slot, claimed or not. Any context.
bool is_thread_slot(const void* address);

}  // namespace gnomon::collector
