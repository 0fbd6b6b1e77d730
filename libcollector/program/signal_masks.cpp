// Emulated signal masks: a thread that blocks SIGPROF is sampled all the same, and sees SIGPROF as
// blocked. Interposed: the functions that change masks and those that wait for signals. Any context
// once the originals are found; takes no lock.
#include "libcollector/program/signal_masks.h"

#include <time.h>

#include <atomic>
#include <cerrno>
#include <cstring>

#include "libcollector/clock/program_action.h"
#include "libcollector/clock/thread_clock.h"
#include "libcollector/clock/threads.h"
#include "libcollector/core/atomic.h"
#include "libcollector/core/readable.h"
#include "libcollector/core/signal_action.h"
#include "libcollector/core/time.h"
#include "libcollector/hook/hook.h"
#include "libcollector/target/thread_slots.h"

namespace gnomon::collector {
namespace {

using Mask = int (*)(int, const sigset_t*, sigset_t*);
using TimedWait = int (*)(const sigset_t*, siginfo_t*, const timespec*);
using WaitInfo = int (*)(const sigset_t*, siginfo_t*);
using Wait = int (*)(const sigset_t*, int*);

constinit std::atomic<bool> may_emulate = true;  // blocking SIGPROF may be emulated

constinit NextSymbol<Mask> real_mask{"pthread_sigmask", "GLIBC_2.32"};
constinit NextSymbol<Mask> real_process_mask{"sigprocmask", "GLIBC_2.2.5"};
constinit NextSymbol<TimedWait> real_wait{"sigtimedwait", "GLIBC_2.2.5"};
constinit NextSymbol<WaitInfo> real_wait_info{"sigwaitinfo", "GLIBC_2.2.5"};
constinit NextSymbol<Wait> real_sigwait{"sigwait", "GLIBC_2.2.5"};

// Unblocks SIGPROF, which was blocked while a SIGPROF of the program's was pending.
void let_ticks_pass() {
  sigset_t tick;
  sigemptyset(&tick);
  sigaddset(&tick, SIGPROF);
  real_mask(SIG_UNBLOCK, &tick, nullptr);
}

// Waits until `limit` (CLOCK_MONOTONIC, ns; 0: without end) and swallows ticks.
int wait_past_ticks(const sigset_t* set, siginfo_t* info, std::uint64_t limit) {
  siginfo_t ignored;
  siginfo_t* got = info ? info : &ignored;
  for (;;) {
    timespec rest{};
    if (limit != 0) {
      const std::uint64_t at = now(CLOCK_MONOTONIC);
      rest = timespec_of(at < limit ? limit - at : 0);
    }
    const int signal = real_wait(set, got, limit != 0 ? &rest : nullptr);
    if (signal != SIGPROF || !is_tick(*got)) return signal;
  }
}

// The thread is marked before may_emulate is read: allow_mask_emulation(false) is followed by a
// look at the marks.
bool try_to_emulate_block(Thread& thread) {
  const bool is_catching = program_catches_sigprof();
  if (!is_catching) atomic(thread.mask_emulated).store(1);
  const bool may = may_emulate;
  if (!may) atomic(thread.mask_emulated).store(0);
  return may && !is_catching;
}

// Follows a change of the thread's mask by a set that names SIGPROF or does not. Returns true if
// the kernel is not to block SIGPROF.
bool emulate(Thread& thread, int how, bool names_it) {
  if (how == SIG_UNBLOCK ? names_it : how == SIG_SETMASK && !names_it) thread.mask_emulated = 0;
  return how != SIG_UNBLOCK && names_it && try_to_emulate_block(thread);
}

bool is_sensible(const timespec& limit) {
  return limit.tv_sec >= 0 && limit.tv_nsec >= 0 && limit.tv_nsec < 1'000'000'000 &&
         limit.tv_sec <= 1'000'000'000;
}

int timed_wait(const sigset_t* set, siginfo_t* info, const timespec* limit) {
  Thread* thread = calling_thread();
  if (!thread || !set || sigismember(set, SIGPROF) != 1 || (limit && !is_sensible(*limit)))
    return real_wait(set, info, limit);
  if (atomic(thread->parked).load() != 0) adopt_mask();
  const std::uint64_t end = limit ? now(CLOCK_MONOTONIC) +
                                        static_cast<std::uint64_t>(limit->tv_sec) * 1'000'000'000 +
                                        static_cast<std::uint64_t>(limit->tv_nsec)
                                  : 0;
  atomic(thread->waiting).store(1);
  const int signal = wait_past_ticks(set, info, end);
  atomic(thread->waiting).store(0);
  if (signal == SIGPROF && thread->mask_emulated) let_ticks_pass();
  return signal;
}

}  // namespace

void adopt_mask() {
  sigset_t mask;
  if (real_mask(SIG_SETMASK, nullptr, &mask) == 0 && sigismember(&mask, SIGPROF) == 1)
    change_mask(SIG_SETMASK, &mask, nullptr);
}

std::uint64_t emulated_mask() {
  return current_thread && current_thread->mask_emulated ? signal_bit(SIGPROF) : 0;
}

bool program_catches_sigprof() {
  struct sigaction theirs {};
  exchange_program_action(nullptr, &theirs);
  return theirs.sa_handler != SIG_DFL && theirs.sa_handler != SIG_IGN;
}

void allow_mask_emulation(bool may) { may_emulate = may; }

int change_mask(int how, const sigset_t* set, sigset_t* old) {
  Thread* thread = calling_thread();
  if (!thread) return real_mask(how, set, old);
  const std::uint32_t masked = thread->mask_emulated;
  sigset_t without;
  if (set) {
    without = *set;
    if (emulate(*thread, how, sigismember(set, SIGPROF) == 1)) sigdelset(&without, SIGPROF);
  }
  const int error = real_mask(how, set ? &without : nullptr, old);
  if (error != 0)
    thread->mask_emulated = masked;
  else if (old && masked)
    sigaddset(old, SIGPROF);
  start_parked_clock(*thread);
  return error;
}

namespace {

long with_errno(long result) {
  if (result >= 0) return result;
  errno = static_cast<int>(-result);
  return -1;
}

bool names_sigprof(const std::uint64_t* set) {
  return can_be_read(reinterpret_cast<std::uint64_t>(set)) && *set & signal_bit(SIGPROF);
}

}  // namespace

// The rest of the set goes to the kernel as it is: libc's functions leave out the signals that libc
// itself uses.
long mask_by_number(long, int how, const std::uint64_t* set, std::uint64_t* old,
                    std::size_t mask_bytes) {
  std::uint64_t wanted = 0;
  const std::uint64_t tick = signal_bit(SIGPROF);
  const bool is_readable = set && can_be_read(reinterpret_cast<std::uint64_t>(set));
  if (is_readable) wanted = *set;
  Thread* thread =
      mask_bytes == kSignalMaskBytes && (is_readable || !set) ? calling_thread() : nullptr;
  if (!thread)
    return with_errno(
        raw_syscall(SYS_rt_sigprocmask, how, arg(set), arg(old), static_cast<long>(mask_bytes)));
  const std::uint32_t was_emulated = thread->mask_emulated;
  if (set && emulate(*thread, how, wanted & tick)) wanted &= ~tick;
  const long result =
      raw_syscall(SYS_rt_sigprocmask, how, set ? arg(&wanted) : 0, arg(old), kSignalMaskBytes);
  if (result != 0) thread->mask_emulated = was_emulated;
  if (result == 0 && old && was_emulated) *old |= tick;
  start_parked_clock(*thread);
  return with_errno(result);
}

long timed_wait_by_number(long, const std::uint64_t* set, siginfo_t* info, const timespec* limit,
                          std::size_t mask_bytes) {
  if (mask_bytes != kSignalMaskBytes || !names_sigprof(set) ||
      (limit && !can_be_read(reinterpret_cast<std::uint64_t>(limit))))
    return with_errno(raw_syscall(SYS_rt_sigtimedwait, arg(set), arg(info), arg(limit),
                                  static_cast<long>(mask_bytes)));
  sigset_t wide;
  sigemptyset(&wide);
  std::memcpy(&wide, set, sizeof *set);
  return timed_wait(&wide, info, limit);
}

extern "C" {

__attribute__((visibility("default"), symver("pthread_sigmask@@GLIBC_2.32"))) int
gnomon_pthread_sigmask_2_32(int how, const sigset_t* set, sigset_t* old) {
  return change_mask(how, set, old);
}

__attribute__((visibility("default"), symver("pthread_sigmask@GLIBC_2.2.5"))) int
gnomon_pthread_sigmask_2_2_5(int how, const sigset_t* set, sigset_t* old) {
  return change_mask(how, set, old);
}

__attribute__((visibility("default"), symver("sigprocmask@@GLIBC_2.2.5"))) int gnomon_sigprocmask(
    int how, const sigset_t* set, sigset_t* old) {
  const int error = change_mask(how, set, old);
  if (error == 0) return 0;
  errno = error;
  return -1;
}

__attribute__((visibility("default"), symver("sigtimedwait@@GLIBC_2.2.5"))) int gnomon_sigtimedwait(
    const sigset_t* set, siginfo_t* info, const timespec* limit) {
  return timed_wait(set, info, limit);
}

__attribute__((visibility("default"), symver("sigwaitinfo@@GLIBC_2.2.5"))) int gnomon_sigwaitinfo(
    const sigset_t* set, siginfo_t* info) {
  return timed_wait(set, info, nullptr);
}

// sigwait(3) does not end when a handler interrupts it.
__attribute__((visibility("default"), symver("sigwait@@GLIBC_2.2.5"))) int gnomon_sigwait(
    const sigset_t* set, int* signal) {
  const int saved_errno = errno;
  int got;
  do got = timed_wait(set, nullptr, nullptr);
  while (got < 0 && errno == EINTR);
  const int error = got < 0 ? errno : 0;
  errno = saved_errno;
  if (error == 0) *signal = got;
  return error;
}
}

namespace {

GNOMON_HOOK(gnomon_pthread_sigmask_2_32, real_mask);
GNOMON_HOOK(gnomon_sigprocmask, real_process_mask);
GNOMON_HOOK(gnomon_sigtimedwait, real_wait);
GNOMON_HOOK(gnomon_sigwaitinfo, real_wait_info);
GNOMON_HOOK(gnomon_sigwait, real_sigwait);

}  // namespace

}  // namespace gnomon::collector
