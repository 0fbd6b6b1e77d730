// The threads that a session samples: how they come and go.
#include "libcollector/clock/threads.h"

#include <pthread.h>
#include <signal.h>

#include <atomic>

#include "libcollector/clock/thread_clock.h"
#include "libcollector/core/atomic.h"
#include "libcollector/core/signal_action.h"
#include "libcollector/core/syscall.h"
#include "libcollector/core/time.h"
#include "libcollector/record/ended_threads.h"
#include "libcollector/target/code.h"
#include "libcollector/target/recording.h"
#include "libcollector/target/thread_stacks.h"

namespace gnomon::collector {
namespace {

constinit EndedThreads ended_threads = {};
constinit pthread_key_t thread_key = 0;

// A thread that lives for less than a period of gnomon-sampler's clock has no tick: its start
// routine stands for where it was.
void publish_end(const Thread& thread) {
  Recorder* const recorder = active_recorder();
  if (!recorder || !format::is_from_outside(atomic(recorder->control()->clock).load())) return;
  const Blocked blocked(kAllSignals);
  std::uint32_t start = 0;
  if (thread.routine)
    start = recorder->intern_frame(
        recorder->intern_base(), reinterpret_cast<std::uint64_t>(thread.routine),
        [recorder](std::uint64_t pc, Writer& writer) { note_fresh_frame(pc, *recorder, writer); });
  ended_threads.put({thread.tid, start, now(CLOCK_THREAD_CPUTIME_ID)});
}

void on_thread_end(void* slot) {
  auto& thread = *static_cast<Thread*>(slot);
  if (current_thread != &thread) return;
  publish_end(thread);
  stop_clock(thread);
  apply_emulated_mask(thread);
  current_thread = nullptr;
  release_thread(thread);
}

// pthread_setspecific allocates for keys beyond the first 32, which a signal handler may not. The
// end of a thread that was adopted without it is noticed by forget_ended_threads.
constexpr pthread_key_t kKeysWithoutHeap = 32;
constinit bool are_ends_unnoticed = false;

}  // namespace

bool prepare_threads() { return pthread_key_create(&thread_key, on_thread_end) == 0; }

void tell_ends_of_threads() { ended_threads.open(own_recorder->directory()); }

void end_thread(Thread& thread) { on_thread_end(&thread); }

bool adopt_thread(Thread& slot) {
  if (raw_syscall(SYS_gettid) != long{slot.tid}) return false;
  if (is_on_borrowed()) return false;  // the next tick sees its own stack
  slot.adopting = 0;
  if (Thread* own = current_thread; own && own != &slot && own->tid == slot.tid) {
    slot.mask_emulated = own->mask_emulated;
    if (own->ticking) {  // pthread_create has given it a clock already
      stop_clock(slot);
      release_thread(slot);
      return false;
    }
    release_thread(*own);
  }
  slot.stack = running_stack(slot.stack);
  slot.routine = nullptr;  // it is not known
  current_thread = &slot;
  if (thread_key < kKeysWithoutHeap)
    pthread_setspecific(thread_key, &slot);
  else
    atomic(are_ends_unnoticed).store(true);
  return true;
}

bool forget_if_ended(Thread& thread) {
  std::uint32_t tid = atomic(thread.tid).load();
  if (tid == 0 || raw_syscall(SYS_tgkill, raw_syscall(SYS_getpid), long{tid}, 0) == 0) return false;
  if (!atomic(thread.tid).compare_exchange_strong(tid, 0)) return false;
  stop_clock(thread);
  release_thread(thread);
  return true;
}

void forget_ended_threads() {
  constexpr std::uint32_t kAtOnce = 4;
  static constinit std::uint32_t next = 0;
  if (!atomic(are_ends_unnoticed).load(std::memory_order_relaxed)) return;
  for (std::uint32_t i = 0; i < kAtOnce; ++i) {
    Thread* slot = slot_at(atomic(next).fetch_add(1, std::memory_order_relaxed));
    if (!slot) {
      atomic(next).store(0, std::memory_order_relaxed);
      return;
    }
    if (atomic(slot->used).load() != 0) forget_if_ended(*slot);
  }
}

// Also after the recording has ended: emulated masks outlive it.
Thread* calling_thread() {
  if (current_thread || !own_recorder || !own_recorder->control()) return current_thread;
  const Blocked blocked(kAllSignals);
  Thread* slot = find_thread(static_cast<std::uint32_t>(raw_syscall(SYS_gettid)));
  if (slot && atomic(slot->adopting).load() != 0) adopt_thread(*slot);
  return current_thread;
}

void start_parked_clock(Thread& thread) {
  Recorder* const recorder = active_recorder();
  if (atomic(thread.parked).load() == 0 || !recorder) return;
  std::uint64_t mask = 0;
  raw_syscall(SYS_rt_sigprocmask, SIG_BLOCK, 0, arg(&mask), kSignalMaskBytes);
  if (mask & signal_bit(SIGPROF) || atomic(thread.parked).exchange(0) == 0) return;
  if (start_clock(thread)) recorder->count_thread();
}

// The attach may have given this thread a slot before it got here.
void own_slot(Thread& thread) {
  if (Thread* other = current_thread) {
    stop_clock(*other);
    release_thread(*other);
  }
  current_thread = &thread;
  pthread_setspecific(thread_key, &thread);
}

void begin_clock(Thread& thread) {
  if (!has_clock()) return;
  if (start_clock(thread))
    own_recorder->count_thread();
  else
    own_recorder->drop(format::Drop::thread_clocks);
}

}  // namespace gnomon::collector
