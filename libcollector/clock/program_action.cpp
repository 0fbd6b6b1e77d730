// The program's own action for SIGPROF, kept beside the collector's. Any context; takes no lock.
#include "libcollector/clock/program_action.h"

#include <cstring>

#include "libcollector/clock/clock_pause.h"
#include "libcollector/clock/interrupted_wait.h"
#include "libcollector/core/atomic.h"
#include "libcollector/core/fork_generation.h"
#include "libcollector/core/signal_action.h"
#include "libcollector/core/syscall.h"
#include "libcollector/target/thread_slots.h"

// Calls handler(signal, info, context) on the stack that ends at `top`, or on this one if top is
// null. The frame can be unwound, and the handler may leave by longjmp.
extern "C" void gnomon_call_handler(int signal, siginfo_t* info, void* context, char* top,
                                    void (*handler)(int, siginfo_t*, void*));
asm(R"(
  .pushsection .text
  .local gnomon_call_handler
  .type gnomon_call_handler, @function
gnomon_call_handler:
  .cfi_startproc
  push %rbp
  .cfi_def_cfa_offset 16
  .cfi_offset %rbp, -16
  mov %rsp, %rbp
  .cfi_def_cfa_register %rbp
  test %rcx, %rcx
  cmovnz %rcx, %rsp
  call *%r8
  leave
  .cfi_def_cfa %rsp, 8
  ret
  .cfi_endproc
  .size gnomon_call_handler, . - gnomon_call_handler
  .popsection
)");

namespace gnomon::collector {
namespace {

// Two copies, so that a reader never waits for a writer, which in a fork child may not exist.
constinit struct sigaction actions[2] = {};
constinit std::uint32_t version = 0;  // actions[version % 2] holds
constinit Claim writing;

struct sigaction current_action() {
  struct sigaction copy;
  for (;;) {
    const std::uint32_t before = atomic(version).load(std::memory_order_acquire);
    std::memcpy(&copy, &actions[before % 2], sizeof copy);
    std::atomic_thread_fence(std::memory_order_acquire);
    if (atomic(version).load(std::memory_order_relaxed) == before) return copy;
  }
}

void write_action(const struct sigaction& fresh) {
  const Blocked blocked(kAllSignals);  // so that no handler of this thread waits for this write
  while (!writing.take()) raw_syscall(SYS_sched_yield);
  const std::uint32_t next = atomic(version).load(std::memory_order_relaxed) + 1;
  std::memcpy(&actions[next % 2], &fresh, sizeof fresh);
  atomic(version).store(next, std::memory_order_release);
  writing.give_back();
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

// What the kernel would have decided by the program's own flags: whether its handler runs on the
// thread's alternate stack. Returns the top of the stack to change to; null: stay on this one.
char* stack_for(const struct sigaction& theirs, const ucontext_t& context) {
  constexpr std::uint64_t kRedZone = 128, kAlignment = 16;  // bytes (System V ABI)
  const stack_t& alternate = context.uc_stack;
  const auto bottom = reinterpret_cast<std::uint64_t>(alternate.ss_sp);
  const ByteRange range{bottom, bottom + alternate.ss_size};
  const auto interrupted = static_cast<std::uint64_t>(context.uc_mcontext.gregs[REG_RSP]);
  if (alternate.ss_flags & SS_DISABLE || range.contains(interrupted)) return nullptr;
  const bool is_there = range.contains(reinterpret_cast<std::uint64_t>(&context));
  const bool wanted = theirs.sa_flags & SA_ONSTACK;
  if (is_there == wanted) return nullptr;
  return reinterpret_cast<char*>((wanted ? range.end : interrupted - kRedZone) & ~(kAlignment - 1));
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
  if (!(theirs.sa_flags & SA_RESTART)) fail_restarted_call(context);
  char* const top = stack_for(theirs, context);
  raw_syscall(SYS_rt_sigprocmask, SIG_SETMASK, arg(&mask), 0, kSignalMaskBytes);
  gnomon_call_handler(SIGPROF, &info, &context, top, theirs.sa_sigaction);
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
