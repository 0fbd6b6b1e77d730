// A thread with a table of descriptors of its own. Any context; raw system calls.
#include "libcollector/core/own_descriptors.h"

#include <sched.h>
#include <sys/prctl.h>
#include <time.h>

#include <cerrno>
#include <cstdint>

#include "libcollector/core/signal_action.h"
#include "libcollector/core/syscall.h"
#include "libcollector/format/names.h"

namespace gnomon::collector {
namespace {

constinit bool is_apart = false;
// The calling thread while its work runs in another, which shares this variable; else 0.
// Volatile, because the compiler does not see the other.
constinit thread_local volatile std::uint32_t caller = 0;

struct Job {
  void (*work)(void*);
  void* data;
  int keep;
  bool has_run = false;
};

// CLOSE_RANGE_UNSHARE copies no more of the table than lies below its range. Kernels before 5.9
// lack it.
bool leave_table(int keep) {
  constexpr long kUnshare = 1 << 1, kCloseRange = 436;
  if (raw_syscall(kCloseRange, keep + 1, ~0u, kUnshare) != 0)
    return raw_syscall(SYS_unshare, CLONE_FILES) == 0;
  if (keep > 0) raw_syscall(kCloseRange, 0, keep - 1, 0);
  return true;
}

void run(void* of) {
  Job& job = *static_cast<Job*>(of);
  raw_syscall(SYS_prctl, PR_SET_NAME, arg(format::kFilesThread));
  if (!leave_table(job.keep)) return;
  job.has_run = true;
  job.work(job.data);
}

// struct futex_waitv of Linux 5.16, with the number and the flag of that.
struct Waited {
  std::uint64_t value, address;
  std::uint32_t flags, reserved;
};
constexpr long kFutexWaitv = 449;
constexpr std::uint32_t kOf32Bits = 2;

// The new thread stands below this frame, like a vfork(2) child. Meanwhile the caller uses no
// stack: what the thread may overwrite is the red zone. CLONE_VFORK would stop a process that LLDB
// holds, at PTRACE_EVENT_VFORK_DONE. A wait in futex(2) is what attaching takes for a lock, so the
// caller waits in futex_waitv(2), or looks every 50 us where the kernel lacks that. It does not
// yield: on a busy CPU that costs a turn of milliseconds.
// Returns the thread's number, or -errno.
[[gnu::noinline]] long run_in_thread(Job& job) {
  constexpr long kFlags = CLONE_VM | CLONE_SIGHAND | CLONE_THREAD | CLONE_UNTRACED | CLONE_FS |
                          CLONE_FILES | CLONE_CHILD_CLEARTID;
  const timespec shortly{0, 50'000};
  std::uint32_t is_alive = 1;
  const Waited waited{1, reinterpret_cast<std::uint64_t>(&is_alive), kOf32Bits, 0};
  long rdi = kFlags, rsi = 0, rdx = 0;
  register long r10 asm("r10") = arg(&is_alive);
  register long r8 asm("r8") = 0;
  register void (*entry)(void*) asm("r12") = run;
  register Job* data asm("r13") = &job;
  register long thread asm("r14") = SYS_clone;
  register const timespec* pause asm("r15") = &shortly;
  register const Waited* wait_for asm("rbx") = &waited;
  asm volatile(
      "mov %%r14, %%rax\n"
      "syscall\n"
      "mov %%rax, %%r14\n"
      "test %%rax, %%rax\n"
      "jz 1f\n"
      "js 3f\n"
      "2:\n"
      "cmpl $0, %[alive]\n"
      "je 3f\n"
      "mov %[wait], %%eax\n"
      "mov %%rbx, %%rdi\n"
      "mov $1, %%esi\n"
      "xor %%edx, %%edx\n"
      "xor %%r10d, %%r10d\n"
      "syscall\n"
      "cmp %[unknown], %%rax\n"
      "jne 2b\n"
      "mov %[sleep], %%eax\n"
      "mov %%r15, %%rdi\n"
      "xor %%esi, %%esi\n"
      "syscall\n"
      "jmp 2b\n"
      "1:\n"
      "sub $128, %%rsp\n"
      "and $-16, %%rsp\n"
      "xor %%ebp, %%ebp\n"
      "mov %%r13, %%rdi\n"
      "call *%%r12\n"
      "mov %[exit], %%eax\n"
      "xor %%edi, %%edi\n"
      "syscall\n"
      "3:\n"
      : "+r"(thread), "+D"(rdi), "+S"(rsi), "+d"(rdx), "+r"(r10), [alive] "+m"(is_alive)
      : "r"(r8), "r"(entry), "r"(data), "r"(pause), "r"(wait_for), "m"(shortly),
        "m"(waited), [wait] "i"(kFutexWaitv), [unknown] "i"(-ENOSYS), [sleep] "i"(SYS_nanosleep),
        [exit] "i"(SYS_exit)
      : "rax", "rcx", "r11", "memory");
  return thread;
}

// The caller goes on before the thread is gone, and meanwhile unshare(2) and setns(2) refuse what
// they allow a process of one thread.
void await_end(long thread) {
  const long process = raw_syscall(SYS_getpid);
  constexpr timespec kMoment{0, 50'000};
  constexpr int kLooks = 200;
  for (int i = 0; i < kLooks && raw_syscall(SYS_tgkill, process, thread, 0) == 0; ++i)
    raw_syscall(SYS_nanosleep, arg(&kMoment), 0);
}

}  // namespace

bool has_own_descriptors() { return caller != 0; }

std::uint32_t program_thread() {
  const std::uint32_t waits = caller;
  return waits != 0 ? waits : static_cast<std::uint32_t>(raw_syscall(SYS_gettid));
}

void keep_descriptors_apart(bool on) { is_apart = on; }

void run_with_own_descriptors(void (*work)(void*), void* data, int keep) {
  if (!is_apart || caller != 0) return work(data);
  Job job{work, data, keep};
  {
    const Blocked all(kAllSignals);
    caller = program_thread();
    const long thread = run_in_thread(job);
    caller = 0;
    if (thread > 0) await_end(thread);
  }
  if (!job.has_run) work(data);
}

}  // namespace gnomon::collector
