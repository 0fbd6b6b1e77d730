// Starts the clocks of the threads that run already when recording begins. On a thread that the
// injector made for it, with all signals blocked; other threads run.
#include "libcollector/attach/attach_tasks.h"

#include <time.h>
#include <unistd.h>

#include <atomic>

#include "libcollector/attach/task_masks.h"
#include "libcollector/clock/thread_clock.h"
#include "libcollector/core/atomic.h"
#include "libcollector/core/kernel_threads.h"
#include "libcollector/core/own_descriptors.h"
#include "libcollector/core/signal_action.h"
#include "libcollector/core/syscall.h"
#include "libcollector/core/time.h"
#include "libcollector/program/handler_masks.h"
#include "libcollector/program/signal_masks.h"
#include "libcollector/target/thread_slots.h"
#include "libcollector/target/thread_stacks.h"

namespace gnomon::collector {
namespace {

using format::AttachRequest;
using format::BlockingThread;
using format::Unblocking;

// Thread::parked: blocks SIGPROF; blocked it in an earlier session; runs, so that the mask seen may
// be that of a wait; did not block SIGPROF when the attach began.
constexpr std::uint32_t kParked = 1, kParkedBefore = 2, kUnsure = 3, kOpen = 4;
// All signals but those that only the kernel and libc use.
constexpr std::uint64_t kOfPrograms =
    ~(signal_bit(SIGKILL) | signal_bit(SIGSTOP) | signal_bit(32) | signal_bit(33));
constexpr int kRounds = 40, kPatience = 4000;  // moments
// What a round may count for: a debugger may have stopped the process for longer in the middle.
constexpr std::uint64_t kLonger = 250'000'000, kMostOfRound = 5'000'000;  // ns

class Tasks {
 public:
  Tasks(Recorder& recorder, AttachRequest& request);
  // Starts the clocks of all threads, in rounds, because threads may be created meanwhile and libc
  // blocks all signals for a moment in posix_spawn and its like. The rounds end once no thread is
  // new and no thread blocks SIGPROF, or after kRounds; kLonger if a thread is in a handler or its
  // mask is unsure.
  void sample();
  // Asks the injector to unblock SIGPROF in the threads that still block it.
  void unblock();
  void answer();

 private:
  static void visit(std::uint32_t tid, void* tasks) { static_cast<Tasks*>(tasks)->see(tid); }
  void see(std::uint32_t tid);
  bool is_in_fresh_handler(const Thread* thread) const;
  void give_clock(Thread& thread);
  void note_blocking(Thread& thread);
  bool needs_another_round(int round) const;
  void look();
  // Starts the clocks of those that a tick can reach now.
  void start_unblocked();
  void drop(format::Drop why, std::uint32_t threads);

  Recorder& recorder_;
  AttachRequest& request_;
  std::uint32_t own_, pid_;
  std::uint64_t handlers_on_alternate_;  // signals
  std::uint64_t looked_ = 0;             // how long, ns
  std::uint32_t fresh_ = 1;              // threads seen for the first time
  // Threads without a clock after the last round, by reason.
  std::uint32_t in_handlers_ = 0, without_slot_ = 0, without_clock_ = 0, unsure_ = 0;
  std::uint32_t unlisted_ = 0;  // block SIGPROF
  bool is_last_round_ = false;
};

void wait_a_moment() {
  constexpr timespec kMoment{0, 500'000};
  raw_syscall(SYS_nanosleep, reinterpret_cast<long>(&kMoment));
}

// Returns true while a running thread may be in a wait for SIGPROF. At the last look a thread that
// has run for long without a wait, and was never seen to block SIGPROF, counts as not waiting. A
// thread that has started its clock by itself meanwhile keeps it.
bool may_still_wait(Thread& thread, bool is_last_look) {
  std::uint32_t before = kParkedBefore;
  if (atomic(thread.parked).compare_exchange_strong(before, kUnsure)) thread.looks = {};
  if (!may_be_waiting(thread.tid, thread.looks)) return false;
  return !is_last_look || !thread.looks.show_long_run();
}

// Returns true if the thread has not run since it was seen with SIGPROF unblocked.
bool is_as_seen_open(const Thread* thread) {
  return thread && thread->parked == kOpen && thread->open_since != 0 &&
         thread->open_since == now(cpu_clock_of(thread->tid));
}

Thread* slot_of(std::uint32_t tid) {
  Thread* thread = claim_thread();
  if (!thread) return nullptr;
  thread->mask_emulated = 0;
  thread->ticking = 0;
  thread->parked = kUnsure;
  thread->looks = {};
  thread->stack = tid == static_cast<std::uint32_t>(getpid()) ? main_stack() : ByteRange{};
  name_thread(*thread, tid);
  atomic(thread->adopting).store(1);
  return thread;
}

// handlers: the signals whose handlers will block SIGPROF from now on.
void note_if_open(std::uint32_t tid, void* handlers) {
  if (tid == program_thread()) return;
  const std::uint64_t cpu = now(cpu_clock_of(tid));
  const MaskLook look = mask_of(tid);
  if (look.sigprof == Sigprof::blocked) return;
  Thread* thread = find_thread(tid);
  if (!thread) thread = slot_of(tid);
  if (!thread || thread->ticking) return;
  thread->looks = {};
  const bool is_sure = look.sigprof == Sigprof::unblocked &&
                       !(look.blocked & *static_cast<const std::uint64_t*>(handlers));
  thread->open_since = is_sure ? cpu : 0;
  atomic(thread->parked).store(kOpen);
}

Tasks::Tasks(Recorder& recorder, AttachRequest& request)
    : recorder_(recorder),
      request_(request),
      own_(static_cast<std::uint32_t>(gettid())),
      pid_(static_cast<std::uint32_t>(getpid())),
      handlers_on_alternate_(handlers_on_alternate_stacks()) {}

// A thread that blocks a signal with a handler on an alternate stack may be in that handler since
// before the collector came, with no room for a tick there. The borrowed thread needs no such care:
// the gate makes its handler block SIGPROF.
void Tasks::see(std::uint32_t tid) {
  if (tid == own_) return;
  Thread* thread = find_thread(tid);
  if (thread && (thread->ticking || thread->parked == kParked)) return;
  const bool is_known = (thread && thread->parked == 0) || tid == request_.in_handler ||
                        is_as_seen_open(thread) || is_in_fresh_handler(thread);
  const auto [sigprof, blocked] = is_known ? MaskLook{Sigprof::unblocked, 0} : mask_of(tid);
  if (sigprof != Sigprof::blocked && blocked & handlers_on_alternate_) {
    ++in_handlers_;
    return;
  }
  if (sigprof == Sigprof::blocked && !may_need_clock(tid)) return;
  if (!thread) thread = slot_of(tid);
  const bool may_wait =
      thread && sigprof == Sigprof::unsure && may_still_wait(*thread, is_last_round_);
  if (!thread)
    ++without_slot_;
  else if (sigprof == Sigprof::blocked || (may_wait && is_last_round_))
    note_blocking(*thread);
  else if (may_wait)
    ++unsure_;
  else
    give_clock(*thread);
}

// Returns true if the thread blocks SIGPROF because it runs a handler to whose mask the attach has
// added it; a tick then waits for the handler's end. Not if it blocks all signals, as libc does at
// times.
bool Tasks::is_in_fresh_handler(const Thread* thread) const {
  if (!thread || thread->parked != kOpen) return false;
  const std::uint64_t blocked = blocked_by(thread->tid);
  return blocked & signal_bit(SIGPROF) && blocked & added_masks() && ~blocked & kOfPrograms;
}

void Tasks::give_clock(Thread& thread) {
  atomic(thread.parked).store(0);
  if (start_clock(thread)) {
    ++fresh_;
    recorder_.count_thread();
  } else if (raw_syscall(SYS_tgkill, long{pid_}, long{thread.tid}, 0) == 0) {
    ++without_clock_;
  }
}

void Tasks::note_blocking(Thread& thread) {
  atomic(thread.parked).store(kParked);
  thread.looks = {};
  if (request_.listed == format::kBlockingThreads) {
    ++unlisted_;
    return;
  }
  request_.list[request_.listed++] = {reinterpret_cast<std::uint64_t>(&thread.tid),
                                      reinterpret_cast<std::uint64_t>(&thread.mask_emulated),
                                      thread.tid, 0};
}

void Tasks::start_unblocked() {
  std::uint32_t kept = 0;
  for (std::uint32_t i = 0; i < request_.listed; ++i) {
    const BlockingThread blocking = request_.list[i];
    Thread* thread = find_thread(blocking.tid);
    if (!thread || !thread->parked || !may_need_clock(blocking.tid)) continue;
    const Sigprof sigprof = blocking.reachable ? Sigprof::unblocked : mask_of(blocking.tid).sigprof;
    if (sigprof == Sigprof::blocked ||
        (sigprof == Sigprof::unsure &&
         (is_last_round_ || may_be_waiting(blocking.tid, thread->looks))))
      request_.list[kept++] = blocking;
    else if (atomic(thread->parked).exchange(0) == kParked)
      give_clock(*thread);
  }
  request_.listed = kept;
}

bool Tasks::needs_another_round(int round) const {
  if (in_handlers_ != 0 || unsure_ != 0) return looked_ < kLonger;
  return round < kRounds && (fresh_ != 0 || request_.listed != 0);
}

void Tasks::look() {
  fresh_ = in_handlers_ = without_slot_ = without_clock_ = unsure_ = 0;
  start_unblocked();
  visit_tasks(visit, this);
}

void Tasks::sample() {
  for (int round = 0; needs_another_round(round); ++round) {
    const std::uint64_t began = now(CLOCK_MONOTONIC);
    if (fresh_ == 0) wait_a_moment();
    look();
    const std::uint64_t took = now(CLOCK_MONOTONIC) - began;
    looked_ += took < kMostOfRound ? took : kMostOfRound;
  }
  is_last_round_ = true;
  if (unsure_ != 0) look();
}

void Tasks::unblock() {
  if (request_.listed == 0 || program_catches_sigprof()) return;
  if (ask_for_masks(request_)) start_unblocked();
}

void Tasks::drop(format::Drop why, std::uint32_t threads) {
  for (; threads > 0; --threads) recorder_.drop(why);
}

void Tasks::answer() {
  request_.blocking = request_.listed + unlisted_ + in_handlers_;
  visit_threads(
      [](Thread& thread, std::uint64_t count) {
        if (thread.ticking) ++*reinterpret_cast<std::uint32_t*>(count);
      },
      reinterpret_cast<std::uint64_t>(&request_.threads));
  request_.refused = without_slot_ + without_clock_;
  drop(format::Drop::blocking_threads, request_.blocking);
  drop(format::Drop::threads_full, without_slot_);
  drop(format::Drop::thread_clocks, without_clock_);
}

}  // namespace

void note_open_tasks() {
  std::uint64_t handlers = handlers_for_ticks_to_keep_off();
  if (handlers != 0) visit_tasks(note_if_open, &handlers);
}

void forget_tasks() {
  visit_threads(
      [](Thread& thread, std::uint64_t) {
        if (thread.tid == 0) return;
        atomic(thread.parked).store(kParkedBefore);
        atomic(thread.adopting).store(1);
      },
      0);
}

bool ask_for_masks(AttachRequest& request) {
  constexpr auto answered = static_cast<std::uint32_t>(Unblocking::answered);
  const std::atomic_ref unblocking(request.unblocking);
  if (unblocking.load() == answered) return false;
  unblocking.store(static_cast<std::uint32_t>(Unblocking::asked));
  for (int i = 0; i < kPatience && unblocking.load() != answered; ++i) wait_a_moment();
  return true;
}

void sample_tasks(Recorder& recorder, AttachRequest& request) {
  visit_threads(
      [](Thread& thread, std::uint64_t) {
        std::uint32_t parked = kParked;
        atomic(thread.parked).compare_exchange_strong(parked, kParkedBefore);
      },
      0);
  Tasks tasks(recorder, request);
  tasks.sample();
  tasks.unblock();
  tasks.answer();
}

}  // namespace gnomon::collector
