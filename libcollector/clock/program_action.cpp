// The program's own action for SIGPROF, kept beside the collector's. Any context; takes no lock.
#include "libcollector/clock/program_action.h"

#include <cstring>

#include "libcollector/clock/clock_pause.h"
#include "libcollector/core/atomic.h"
#include "libcollector/core/signal_action.h"
#include "libcollector/core/syscall.h"
#include "libcollector/core/thread_slots.h"

namespace gnomon::collector {
namespace {

constinit struct sigaction action {};
constinit std::uint32_t version = 0;  // odd: being written

struct sigaction current_action() {
  struct sigaction copy;
  for (;;) {
    const std::uint32_t before = atomic(version).load(std::memory_order_acquire);
    std::memcpy(&copy, &action, sizeof copy);
    std::atomic_thread_fence(std::memory_order_acquire);
    if (before % 2 == 0 && atomic(version).load(std::memory_order_relaxed) == before) return copy;
    raw_syscall(SYS_sched_yield);
  }
}

void write_action(const struct sigaction& fresh) {
  const Blocked blocked(kAllSignals);  // so that no handler of this thread reads half an action
  for (std::uint32_t even = atomic(version).load(std::memory_order_relaxed) & ~1u;
       !atomic(version).compare_exchange_weak(even, even + 1, std::memory_order_acquire);
       even &= ~1u)
    raw_syscall(SYS_sched_yield);
  std::atomic_thread_fence(std::memory_order_release);
  std::memcpy(&action, &fresh, sizeof action);
  atomic(version).fetch_add(1, std::memory_order_release);
}

// Returns a thread that waits for SIGPROF in sigwait(3) or its like; 0 if there is none.
std::uint32_t waiting_thread() {
  std::uint32_t tid = 0;
  visit_threads(
      [](Thread& thread, std::uint64_t found) {
        if (atomic(thread.waiting).load()) *reinterpret_cast<std::uint32_t*>(found) = thread.tid;
      },
      reinterpret_cast<std::uint64_t>(&tid));
  return tid;
}

void keep_pending(const siginfo_t& info, Thread& thread, ucontext_t& context) {
  const std::uint32_t waiting = is_for_process(info) && !thread.waiting ? waiting_thread() : 0;
  if (waiting != 0 && send_to_thread(waiting, info)) return;
  const ClockPause quiet(thread);
  sigaddset(&context.uc_sigmask, SIGPROF);
  send_again(info);
}

// Takes effect when the collector's handler returns.
void end_program(const siginfo_t& info, ucontext_t& context) {
  exchange_kernel_action(SIGPROF, {});  // SIG_DFL
  sigdelset(&context.uc_sigmask, SIGPROF);
  send_to_thread(static_cast<std::uint32_t>(raw_syscall(SYS_gettid)), info);
}

void run_handler(const struct sigaction& theirs, siginfo_t& info, ucontext_t& context) {
  std::uint64_t mask = 0, theirs_too = 0;
  std::memcpy(&mask, &context.uc_sigmask, sizeof mask);
  std::memcpy(&theirs_too, &theirs.sa_mask, sizeof theirs_too);
  mask |= theirs_too;
  if (!(theirs.sa_flags & SA_NODEFER)) mask |= signal_bit(SIGPROF);
  raw_syscall(SYS_rt_sigprocmask, SIG_SETMASK, arg(&mask), 0, kSignalMaskBytes);
  if (theirs.sa_flags & SA_SIGINFO)
    theirs.sa_sigaction(SIGPROF, &info, &context);
  else
    theirs.sa_handler(SIGPROF);
}

}  // namespace

void exchange_program_action(const struct sigaction* fresh, struct sigaction* old) {
  const struct sigaction wanted = fresh ? *fresh : (struct sigaction){};
  if (old) *old = current_action();
  if (fresh) write_action(wanted);
}

void pass_on(siginfo_t& info, ucontext_t& context) {
  Thread* thread = current_thread;
  // The thread blocks SIGPROF and yet it was delivered: sigsuspend or its like let it through.
  if (thread && thread->mask_emulated && sigismember(&context.uc_sigmask, SIGPROF) == 0)
    return keep_pending(info, *thread, context);
  const struct sigaction theirs = current_action();
  if (theirs.sa_handler == SIG_IGN) return;
  if (theirs.sa_handler == SIG_DFL) return end_program(info, context);
  if (theirs.sa_flags & static_cast<int>(SA_RESETHAND)) write_action({});
  run_handler(theirs, info, context);
}

}  // namespace gnomon::collector
