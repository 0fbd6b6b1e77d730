// Pauses a thread's clock while a SIGPROF of the program's is sent, which a pending tick would
// swallow. The collector's signal handler and normal context.
#include "libcollector/clock/clock_pause.h"

#include "libcollector/clock/thread_clock.h"
#include "libcollector/core/signal_action.h"
#include "libcollector/core/syscall.h"

namespace gnomon::collector {
namespace {

bool take_pending(siginfo_t& info) {
  const std::uint64_t set = signal_bit(SIGPROF);
  const timespec at_once{};
  return raw_syscall(SYS_rt_sigtimedwait, arg(&set), arg(&info), arg(&at_once), kSignalMaskBytes) ==
         SIGPROF;
}

}  // namespace

ClockPause::ClockPause(Thread& thread) : thread_(thread), was_ticking_(pause_clock(thread)) {
  siginfo_t taken{};
  while (take_pending(taken))
    if (!is_tick(taken)) other_ = taken;
}

ClockPause::~ClockPause() {
  if (other_.si_signo != 0) send_again(other_);
  if (was_ticking_) resume_clock(thread_);
}

bool send_to_thread(std::uint32_t tid, const siginfo_t& info) {
  return raw_syscall(SYS_rt_tgsigqueueinfo, raw_syscall(SYS_getpid), tid, SIGPROF, arg(&info)) == 0;
}

// kill(2), timers and the kernel send to the process, pthread_kill(3) and F_OWNER_TID to a thread.
bool is_for_process(const siginfo_t& info) {
  return info.si_code <= 0 ? info.si_code != SI_TKILL : info.si_code == SI_KERNEL;
}

void send_again(const siginfo_t& info) {
  const long self = raw_syscall(SYS_gettid);
  // The kernel accepts any si_code if the target is the caller, also by its thread id.
  if (is_for_process(info))
    raw_syscall(SYS_rt_sigqueueinfo, self, SIGPROF, arg(&info));
  else
    send_to_thread(static_cast<std::uint32_t>(self), info);
}

}  // namespace gnomon::collector
