// The program's own action for SIGPROF, which stands behind ours. Any context; takes no lock.
#include "libcollector/clock/program_action.h"

#include <cstring>

#include "libcollector/core/atomic.h"
#include "libcollector/core/signal_action.h"
#include "libcollector/core/syscall.h"
#include "libcollector/core/threads.h"

namespace gnomon::collector {
namespace {

constinit struct sigaction action {};
constinit std::uint32_t version = 0;  // odd: being written

// Keeps a handler of this thread from meeting a half-written action.
class AllBlocked {
 public:
  AllBlocked() {
    const std::uint64_t all = ~0ull;
    raw_syscall(SYS_rt_sigprocmask, SIG_SETMASK, arg(&all), arg(&before_), kSignalMaskBytes);
  }
  ~AllBlocked() {
    raw_syscall(SYS_rt_sigprocmask, SIG_SETMASK, arg(&before_), 0, kSignalMaskBytes);
  }
  AllBlocked(const AllBlocked&) = delete;
  AllBlocked& operator=(const AllBlocked&) = delete;

 private:
  std::uint64_t before_ = 0;
};

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
  const AllBlocked blocked;
  for (std::uint32_t even = atomic(version).load(std::memory_order_relaxed) & ~1u;
       !atomic(version).compare_exchange_weak(even, even + 1, std::memory_order_acquire);
       even &= ~1u)
    raw_syscall(SYS_sched_yield);
  std::atomic_thread_fence(std::memory_order_release);
  std::memcpy(&action, &fresh, sizeof action);
  atomic(version).fetch_add(1, std::memory_order_release);
}

void send_again(siginfo_t& info) {
  raw_syscall(SYS_rt_tgsigqueueinfo, raw_syscall(SYS_getpid), raw_syscall(SYS_gettid), SIGPROF,
              arg(&info));
}

// Takes effect when our handler returns.
void end_program(siginfo_t& info, ucontext_t& context) {
  exchange_kernel_action(SIGPROF, {});  // SIG_DFL
  sigdelset(&context.uc_sigmask, SIGPROF);
  send_again(info);
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
  const Thread* thread = current_thread;
  // Really blocked and here all the same: something like sigsuspend let it through for a moment.
  if (thread && thread->masked && sigismember(&context.uc_sigmask, SIGPROF) == 0) {
    sigaddset(&context.uc_sigmask, SIGPROF);
    return send_again(info);
  }
  const struct sigaction theirs = current_action();
  if (theirs.sa_handler == SIG_IGN) return;
  if (theirs.sa_handler == SIG_DFL) return end_program(info, context);
  if (theirs.sa_flags & static_cast<int>(SA_RESETHAND)) write_action({});
  run_handler(theirs, info, context);
}

}  // namespace gnomon::collector
