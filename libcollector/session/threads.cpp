// The threads that a session samples: how they come and go.
#include "libcollector/session/threads.h"

#include <pthread.h>
#include <signal.h>

#include <atomic>

#include "libcollector/attach/thread_stacks.h"
#include "libcollector/clock/thread_clock.h"
#include "libcollector/core/atomic.h"
#include "libcollector/core/signal_action.h"
#include "libcollector/core/syscall.h"
#include "libcollector/core/time.h"
#include "libcollector/program/alternate_stack.h"
#include "libcollector/program/signal_masks.h"
#include "libcollector/program/thread_start.h"
#include "libcollector/record/ended_threads.h"

namespace gnomon::collector {
namespace {

constinit Recorder* recorder = nullptr;  // memory that a fork child sees zeroed
constinit FreshFrame fresh_frame = nullptr;
constinit EndedThreads ended_threads = {};
constinit pthread_key_t thread_key = 0;

bool is_recording() { return recorder && recorder->recording(); }

// A thread that lives for less than a period of gnomon-sampler's clock has no tick: its start
// routine stands for where it was.
void publish_end(const Thread& thread) {
  format::ControlPage* control = is_recording() ? recorder->control() : nullptr;
  if (!control || !format::is_from_outside(atomic(control->clock).load())) return;
  const Blocked blocked(kAllSignals);
  std::uint32_t start = 0;
  if (thread.routine)
    start = recorder->intern_frame(
        recorder->intern_base(), reinterpret_cast<std::uint64_t>(thread.routine),
        [](std::uint64_t pc, Writer& writer) { fresh_frame(pc, *recorder, writer); });
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

void follow_threads(Recorder& of, FreshFrame fresh, bool tells_ends) {
  fresh_frame = fresh;
  recorder = &of;
  if (tells_ends) ended_threads.open(of.directory());
}

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
  if (current_thread || !recorder || !recorder->control()) return current_thread;
  const Blocked blocked(kAllSignals);
  Thread* slot = find_thread(static_cast<std::uint32_t>(raw_syscall(SYS_gettid)));
  if (slot && atomic(slot->adopting).load() != 0) adopt_thread(*slot);
  return current_thread;
}

void start_parked_clock(Thread& thread) {
  if (atomic(thread.parked).load() == 0 || !is_recording()) return;
  std::uint64_t mask = 0;
  raw_syscall(SYS_rt_sigprocmask, SIG_BLOCK, 0, arg(&mask), kSignalMaskBytes);
  if (mask & signal_bit(SIGPROF) || atomic(thread.parked).exchange(0) == 0) return;
  if (start_clock(thread)) recorder->count_thread();
}

void begin_thread(Thread& thread) {
  if (Thread* other =
          current_thread) {  // the attach has given this thread a slot before it got here
    stop_clock(*other);
    release_thread(*other);
  }
  current_thread = &thread;
  adopt_mask();
  pthread_setspecific(thread_key, &thread);
  if (!has_clock()) return;
  if (start_clock(thread)) {
    recorder->count_thread();
    return;
  }
  recorder->drop(format::Drop::thread_clocks);
}

}  // namespace gnomon::collector
