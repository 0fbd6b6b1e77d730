// Runs a traced thread to an address one instruction at a time. Called by the thread that traces
// it.
#include <linux/futex.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstring>

#include "injector/attach/remote/remote_process.h"
#include "injector/attach/thread/ptrace_request.h"
#include "injector/attach/thread/traced_thread.h"

namespace gnomon::injector {
namespace {

using Code = std::array<unsigned char, 8>;

constexpr std::uint64_t kTrapFlag = 0x100;  // of rflags

[[gnu::noipa]] void is_passed() {}

// Returns true if the thread may be stepped over the system call that it is about to make. A call
// that blocks SIGTRAP may not: the kernel would reset the program's action for that signal. Calls
// that wait may not either: the step would end when the wait does.
bool may_call(pid_t pid, const user_regs_struct& at) {
  switch (at.rax) {
    case SYS_brk:
    case SYS_mmap:
    case SYS_munmap:
    case SYS_mprotect:
    case SYS_mremap:
    case SYS_madvise:
      return true;
    case SYS_futex:
      return (static_cast<int>(at.rsi) & FUTEX_CMD_MASK) == FUTEX_WAKE;
    case SYS_rt_sigprocmask: {
      if (at.rdi == SIG_UNBLOCK || at.rsi == 0) return true;
      const auto mask = read_value<std::uint64_t>(pid, at.rsi);
      return mask && !(*mask & kSigtrap);
    }
    case SYS_rt_sigreturn: {
      const auto mask = read_value<std::uint64_t>(pid, at.rsp + offsetof(ucontext_t, uc_sigmask));
      return mask && !(*mask & kSigtrap);
    }
    default:
      return false;
  }
}

bool is_system_call(const Code& code) { return code[0] == 0x0f && code[1] == 0x05; }

// pushf, after an operand size or REX prefix. What it stores has the trap flag of the step.
bool pushes_flags(const Code& code) {
  const bool has_prefix = code[0] == 0x66 || (code[0] & 0xf0) == 0x40;
  return code[has_prefix ? 1 : 0] == 0x9c;
}

}  // namespace

bool TracedThread::debug_registers_work() {
  static const bool do_work = [] {
    perf_event_attr passes{};
    passes.size = sizeof passes;
    passes.type = PERF_TYPE_BREAKPOINT;
    passes.bp_type = HW_BREAKPOINT_X;
    passes.bp_addr = reinterpret_cast<std::uint64_t>(&is_passed);
    passes.bp_len = sizeof(long);
    passes.exclude_kernel = passes.exclude_hv = 1;
    const int event =
        static_cast<int>(syscall(SYS_perf_event_open, &passes, 0, -1, -1, PERF_FLAG_FD_CLOEXEC));
    if (event < 0) return true;
    is_passed();
    std::uint64_t count = 0;
    const bool is_read = read(event, &count, sizeof count) == sizeof count;
    close(event);
    return !is_read || count != 0;
  }();
  return do_work;
}

// Returns false if the thread was not let go, or came to something else than the next instruction.
bool TracedThread::step(const user_regs_struct& at, Clock::time_point limit) {
  const long word = trace(PTRACE_PEEKTEXT, tid_, at.rip, nullptr);
  Code code{};
  std::memcpy(code.data(), &word, sizeof word);
  if (is_system_call(code) && !may_call(pid_, at)) return false;
  if (!go_on(PTRACE_SINGLESTEP, 0)) return false;
  Came came = wait(limit - Clock::now());
  if (came == Came::nothing) {
    trace(PTRACE_INTERRUPT, tid_, 0, nullptr);
    came = wait(kForEver);
  }
  is_stopped_ = came != Came::end;
  since_ = not_yet_;
  if (came != Came::trap || !is_at_own_trap()) return false;
  signal_ = 0;
  if (!pushes_flags(code) || at.eflags & kTrapFlag) return true;
  const std::uint64_t top = at.rsp - (code[0] == 0x66 ? 2 : 8);
  const auto flags = read_value<std::uint16_t>(pid_, top);
  if (!flags) return false;
  const auto cleared = static_cast<std::uint16_t>(*flags & ~kTrapFlag);
  return write(top, &cleared, sizeof cleared);
}

bool TracedThread::run_by_steps(std::uint64_t address, Clock::time_point limit) {
  is_stepped_ = true;
  user_regs_struct at{};
  bool arrived = false, goes = true;
  for (bool first = true; goes && !arrived && (first || Clock::now() < limit); first = false) {
    goes = trace(PTRACE_GETREGS, tid_, 0, &at) == 0 && step(at, limit);
    arrived = goes && is_at(address);
  }
  return arrived;
}

}  // namespace gnomon::injector
