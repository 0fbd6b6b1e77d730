// The threads that run already when recording begins get their clocks. On a thread made for it by
// the injector, with all signals blocked; other threads run.
#include "libcollector/control/attach_tasks.h"

#include <time.h>
#include <unistd.h>

#include <atomic>

#include "libcollector/clock/thread_clock.h"
#include "libcollector/control/handler_masks.h"
#include "libcollector/control/signal_masks.h"
#include "libcollector/control/stacks.h"
#include "libcollector/core/atomic.h"
#include "libcollector/core/proc_status.h"
#include "libcollector/core/signal_action.h"
#include "libcollector/core/syscall.h"
#include "libcollector/core/tasks.h"
#include "libcollector/core/threads.h"

namespace gnomon::collector {
namespace {

using format::AttachRequest;
using format::BlockingThread;
using format::Unblocking;

constexpr int kRounds = 40, kMoreRounds = 400, kPatience = 4000;  // moments

class Tasks {
 public:
  Tasks(Recorder& recorder, AttachRequest& request);
  // Threads may be made meanwhile, and libc blocks all signals for a moment in posix_spawn and its
  // like: again until there is no new one, and none that blocks SIGPROF or it has done so for long.
  // One that is in a handler is given longer.
  void sample();
  // Those that still block SIGPROF are unblocked from outside.
  void unblock();
  void answer();

 private:
  static void visit(std::uint32_t tid, void* tasks) { static_cast<Tasks*>(tasks)->see(tid); }
  void see(std::uint32_t tid);
  Thread* slot_of(std::uint32_t tid);
  void give_clock(Thread& thread, bool blocks);
  void note_blocking(Thread& thread);
  void forget_unblocked();
  void drop(format::Drop why, std::uint32_t threads);

  Recorder& recorder_;
  AttachRequest& request_;
  ByteRange main_;  // its stack
  std::uint32_t own_, pid_;
  std::uint64_t handlers_on_alternate_;  // signals
  std::uint32_t fresh_ = 1;              // threads met for the first time
  // Left alone in the last round.
  std::uint32_t in_handlers_ = 0, without_slot_ = 0, without_clock_ = 0;
  std::uint32_t clocks_ = 0;
  std::uint32_t unlisted_ = 0;  // block SIGPROF
};

void wait_a_moment() {
  constexpr timespec kMoment{0, 500'000};
  raw_syscall(SYS_nanosleep, reinterpret_cast<long>(&kMoment));
}

std::uint64_t blocked_by(std::uint32_t tid) {
  static ProcStatus status;
  return status.read(tid) ? status.blocked() : 0;
}

bool blocks_sigprof(std::uint32_t tid) { return blocked_by(tid) & signal_bit(SIGPROF); }

Tasks::Tasks(Recorder& recorder, AttachRequest& request)
    : recorder_(recorder),
      request_(request),
      main_(main_stack()),
      own_(static_cast<std::uint32_t>(gettid())),
      pid_(static_cast<std::uint32_t>(getpid())),
      handlers_on_alternate_(handlers_on_alternate_stacks()) {}

// A handler that has run since before the collector came may have no room for a tick on its
// alternate stack, and blocks its signal. One that blocks SIGPROF, too, gets its tick afterwards;
// so does the borrowed thread, which the gate has made block it.
void Tasks::see(std::uint32_t tid) {
  if (tid == own_) return;
  Thread* thread = find_thread(tid);
  if (thread && thread->ticking) return;
  const std::uint64_t blocked = thread || tid == request_.in_handler ? 0 : blocked_by(tid);
  const bool blocks = blocked & signal_bit(SIGPROF);
  if (!blocks && blocked & handlers_on_alternate_) {
    ++in_handlers_;
    return;
  }
  if (!thread) thread = slot_of(tid);
  if (thread)
    give_clock(*thread, blocks);
  else
    ++without_slot_;
}

Thread* Tasks::slot_of(std::uint32_t tid) {
  Thread* thread = claim_thread();
  if (!thread) return nullptr;
  thread->masked = 0;
  thread->ticking = 0;
  thread->stack = tid == pid_ ? main_ : ByteRange{};
  thread->tid = tid;
  atomic(thread->adopting).store(1);
  return thread;
}

void Tasks::give_clock(Thread& thread, bool blocks) {
  if (start_clock(thread)) {
    ++fresh_;
    ++clocks_;
    if (blocks) note_blocking(thread);
  } else if (raw_syscall(SYS_tgkill, long{pid_}, long{thread.tid}, 0) == 0) {
    ++without_clock_;
  }
}

void Tasks::note_blocking(Thread& thread) {
  if (request_.listed == format::kBlockingThreads) {
    ++unlisted_;
    return;
  }
  request_.list[request_.listed++] = {reinterpret_cast<std::uint64_t>(&thread.tid),
                                      reinterpret_cast<std::uint64_t>(&thread.masked), thread.tid,
                                      0};
}

void Tasks::forget_unblocked() {
  std::uint32_t kept = 0;
  for (std::uint32_t i = 0; i < request_.listed; ++i)
    if (request_.list[i].reachable == 0 && blocks_sigprof(request_.list[i].tid))
      request_.list[kept++] = request_.list[i];
  request_.listed = kept;
}

void Tasks::sample() {
  for (int i = 0; i < (in_handlers_ != 0 ? kMoreRounds : kRounds) &&
                  (fresh_ != 0 || in_handlers_ != 0 || request_.listed != 0);
       ++i) {
    if (fresh_ == 0) wait_a_moment();
    fresh_ = in_handlers_ = without_slot_ = without_clock_ = 0;
    forget_unblocked();
    visit_tasks(visit, this);
  }
}

void Tasks::unblock() {
  if (request_.listed == 0 || program_catches_sigprof()) return;
  const std::atomic_ref unblocking(request_.unblocking);
  unblocking.store(static_cast<std::uint32_t>(Unblocking::asked));
  const auto answered = static_cast<std::uint32_t>(Unblocking::answered);
  for (int i = 0; i < kPatience && unblocking.load() != answered; ++i) wait_a_moment();
  forget_unblocked();
}

void Tasks::drop(format::Drop why, std::uint32_t threads) {
  for (; threads > 0; --threads) recorder_.drop(why);
}

void Tasks::answer() {
  const std::uint32_t unsampled = request_.listed + unlisted_;
  request_.threads = clocks_ > unsampled ? clocks_ - unsampled : 0;
  request_.blocking = unsampled + in_handlers_;
  std::atomic_ref(recorder_.control()->threads)
      .fetch_add(request_.threads, std::memory_order_relaxed);
  request_.refused = without_slot_ + without_clock_;
  drop(format::Drop::blocking_threads, request_.blocking);
  drop(format::Drop::threads_full, without_slot_);
  drop(format::Drop::thread_clocks, without_clock_);
}

}  // namespace

void sample_tasks(Recorder& recorder, AttachRequest& request) {
  Tasks tasks(recorder, request);
  tasks.sample();
  tasks.unblock();
  tasks.answer();
}

}  // namespace gnomon::collector
