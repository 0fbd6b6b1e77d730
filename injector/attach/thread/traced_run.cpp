// Runs a traced thread to a breakpoint of its own. Called by the thread that traces it.
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <string>
#include <utility>

#include "injector/attach/remote/remote_process.h"
#include "injector/attach/thread/ptrace_request.h"
#include "injector/attach/thread/traced_thread.h"

namespace gnomon::injector {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

constexpr std::uint64_t debug_register(unsigned index) {
  return offsetof(struct user, u_debugreg) + index * sizeof(user::u_debugreg[0]);
}

// If the thread blocks or ignores SIGTRAP, the kernel's force_sig resets the program's action for
// it; a pending SIGTRAP would be mistaken for the trap.
bool can_take_traps(pid_t pid, pid_t tid) {
  const std::string status = proc_text(pid, "task/" + std::to_string(tid) + "/status");
  const auto own = number_in(status, "SigPnd", 16), shared = number_in(status, "ShdPnd", 16),
             ignored = number_in(status, "SigIgn", 16);
  return own && shared && ignored && !((*own | *shared | *ignored) & kSigtrap);
}

}  // namespace

// The trap of a debug register, or of a step: after an instruction, a system call or the entry of a
// handler. It is ours, since nobody else traces the thread.
bool TracedThread::is_own_trap(const siginfo_t& trap) const {
  if (trap.si_signo != SIGTRAP) return false;
  const int code = trap.si_code;
  return code == TRAP_HWBKPT ||
         (is_stepped_ && (code == TRAP_TRACE || code == TRAP_BRKPT || code == SIGTRAP));
}

bool TracedThread::is_at_own_trap() const {
  siginfo_t info{};
  return trace(PTRACE_GETSIGINFO, tid_, 0, &info) == 0 && is_own_trap(info);
}

bool TracedThread::is_at(std::uint64_t address) const {
  user_regs_struct now{};
  return trace(PTRACE_GETREGS, tid_, 0, &now) == 0 && now.rip == address;
}

// Returns true if the thread stands at the address; else it is stopped elsewhere or has ended.
bool TracedThread::run_until_trap(std::uint64_t address, Clock::time_point limit) {
  constexpr nanoseconds kLook = milliseconds(1);
  constexpr int kStays = 5;
  bool is_over = false;
  for (int waits = 0;;) {
    const Came came = wait(is_over ? kForEver : kLook);
    is_stopped_ = came != Came::nothing && came != Came::end;
    since_ = not_yet_;
    if (came == Came::end || came == Came::group_stop || came == Came::interrupt) return false;
    if (came == Came::trap && is_at_own_trap()) {
      signal_ = 0;
      if (is_at(address)) return true;
    }
    if (is_stopped_) go_on(PTRACE_CONT, std::exchange(signal_, 0));
    waits = system_call_of(pid_, tid_) == SYS_futex ? waits + 1 : 0;
    if (is_over || (waits < kStays && Clock::now() < limit)) continue;
    is_over = true;
    trace(PTRACE_INTERRUPT, tid_, 0, nullptr);
  }
}

// A debug register belongs to the thread; a breakpoint in the code would hit all threads.
bool TracedThread::run_by_register(std::uint64_t address, Clock::time_point limit) {
  constexpr std::uint64_t kExecute0 = 1;  // DR7: L0, R/W0 = LEN0 = 0 (Intel SDM 3B, 18.2.4)
  if (trace(PTRACE_POKEUSER, tid_, debug_register(0), number(address)) != 0 ||
      trace(PTRACE_POKEUSER, tid_, debug_register(7), number(kExecute0)) != 0)
    return false;
  go_on(PTRACE_CONT, 0);
  const bool arrived = run_until_trap(address, limit);
  trace(PTRACE_POKEUSER, tid_, debug_register(7), nullptr);
  return arrived;
}

bool TracedThread::run_to(std::uint64_t address, milliseconds patience) {
  const auto before = mask();
  if (!before || !can_take_traps(pid_, tid_)) return false;
  const bool blocks_traps = *before & kSigtrap;
  if (blocks_traps && !set_mask(*before & ~kSigtrap)) return false;
  const auto limit = Clock::now() + patience;
  const bool arrived =
      debug_registers_work() ? run_by_register(address, limit) : run_by_steps(address, limit);
  if (!is_stopped_) return false;
  take_trap();
  if (const auto now = mask(); blocks_traps && now) set_mask(*now | kSigtrap);
  return look() && arrived;
}

bool TracedThread::has_trap_to_come() const {
  constexpr std::uint64_t kAtOnce = 8;
  const auto blocked = mask();
  if (!blocked || *blocked & kSigtrap) return false;
  std::array<siginfo_t, kAtOnce> pending{};
  for (std::uint64_t first = 0;; first += kAtOnce) {
    const __ptrace_peeksiginfo_args which{first, 0, static_cast<std::int32_t>(kAtOnce)};
    const long count =
        trace(PTRACE_PEEKSIGINFO, tid_, reinterpret_cast<std::uint64_t>(&which), pending.data());
    for (long i = 0; i < count; ++i)
      if (is_own_trap(pending[static_cast<std::size_t>(i)])) return true;
    if (count < static_cast<long>(kAtOnce)) return false;
  }
}

// The kernel may report a requested stop, or one of the whole process, before the trap of a
// breakpoint that was reached at the same time. If the thread were released with that trap pending,
// the process would end.
void TracedThread::take_trap() {
  while (is_stopped_ && has_trap_to_come()) {
    go_on(PTRACE_CONT, std::exchange(signal_, 0));
    const Came came = wait(kForEver);
    is_stopped_ = came != Came::nothing && came != Came::end;
    since_ = not_yet_;
    if (came == Came::trap && is_at_own_trap()) signal_ = 0;
  }
}

QuickBreakpoints::QuickBreakpoints() {
  perf_event_attr nothing{};
  nothing.size = sizeof nothing;
  nothing.type = PERF_TYPE_SOFTWARE;
  nothing.config = PERF_COUNT_SW_DUMMY;
  nothing.exclude_kernel = nothing.exclude_hv = 1;
  event_ =
      static_cast<int>(syscall(SYS_perf_event_open, &nothing, 0, -1, -1, PERF_FLAG_FD_CLOEXEC));
}

QuickBreakpoints::~QuickBreakpoints() {
  if (event_ >= 0) close(event_);
}

}  // namespace gnomon::injector
