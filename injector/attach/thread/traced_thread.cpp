// One thread of another process, stopped by ptrace(2) while the others run. Used by one thread,
// with all signals blocked: if it ended, the other thread would stay where it was sent.
#include "injector/attach/thread/traced_thread.h"

#include <linux/rseq.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <thread>
#include <utility>
#include <vector>

#include "injector/attach/remote/remote_process.h"
#include "injector/attach/thread/ptrace_request.h"

namespace gnomon::injector {

using std::chrono::nanoseconds;

std::optional<TracedThread> TracedThread::stop(pid_t pid, pid_t tid) {
  TracedThread thread(pid, tid);
  if (trace(PTRACE_SEIZE, tid, 0, number(PTRACE_O_TRACESYSGOOD)) != 0) return std::nullopt;
  // Nothing has been changed until the thread has stopped. A thread in state D stops after its
  // wait.
  const Came came = thread.interrupt();
  thread.is_stopped_ = came != Came::end;
  thread.hold_our_signals();
  if (came != Came::interrupt || !thread.look()) return std::nullopt;
  return thread;
}

TracedThread::TracedThread(TracedThread&& other) noexcept
    : pid_(other.pid_),
      tid_(other.tid_),
      is_stopped_(std::exchange(other.is_stopped_, false)),
      waits_(other.waits_),
      is_touched_(other.is_touched_),
      is_stepped_(other.is_stepped_),
      signal_(other.signal_),
      registers_(other.registers_),
      resume_(other.resume_),
      our_mask_(std::exchange(other.our_mask_, std::nullopt)),
      since_(other.since_),
      not_yet_(other.not_yet_),
      held_(other.held_) {}

TracedThread::~TracedThread() { release(); }

void TracedThread::hold_our_signals() {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &our_mask_.emplace());
}

// Restarts a wait that the stop has interrupted, unless a handler is about to end it. The kernel
// restarts the others if their registers are unchanged.
void TracedThread::put_back() {
  const bool is_interrupted = waits_ && static_cast<std::int64_t>(registers_.rax) == -EINTR;
  const bool stays_ended = is_interrupted && has_signal_to_come(pid_, tid_);
  if (stays_ended || (waits_ && !is_interrupted && is_touched_ && stop_again()))
    trace(PTRACE_SETREGS, tid_, 0, &registers_);
  else if (is_interrupted || is_touched_)
    set(resume_.rax, resume_.rip, registers_.rsp);
}

// Brings the thread from the end of a call to where the kernel handles signals and interrupted
// calls.
bool TracedThread::stop_again() {
  trace(PTRACE_INTERRUPT, tid_, 0, nullptr);
  const Came came = trace(PTRACE_CONT, tid_, 0, nullptr) == 0 ? wait(kForEver) : Came::end;
  is_stopped_ = came != Came::end;
  return came == Came::interrupt || came == Came::group_stop;
}

nanoseconds TracedThread::release() {
  take_trap();
  if (is_stopped_ && signal_ == 0) put_back();
  if (is_stopped_) go_on(PTRACE_DETACH, std::exchange(signal_, 0));
  if (our_mask_) pthread_sigmask(SIG_SETMASK, &*our_mask_, nullptr);
  our_mask_.reset();
  return held_;
}

Stopped TracedThread::stopped() const {
  const user_regs_struct& r = registers_;
  return {pid_,
          tid_,
          {r.rax, r.rdx, r.rcx, r.rbx, r.rsi, r.rdi, r.rbp, r.rsp, r.r8, r.r9, r.r10, r.r11, r.r12,
           r.r13, r.r14, r.r15, r.rip}};
}

// linux/rseq.h: rseq_cs names the sequence, until the kernel next sees the thread outside of it.
bool TracedThread::is_delicate() const {
  constexpr std::uint64_t kUserCode64 = 0x33;
  if (registers_.cs != kUserCode64) return true;
  __ptrace_rseq_configuration area{};
  if (trace(PTRACE_GET_RSEQ_CONFIGURATION, tid_, sizeof area, &area) <= 0) return false;
  if (area.rseq_abi_pointer == 0) return false;
  const auto at = read_value<std::uint64_t>(pid_, area.rseq_abi_pointer + offsetof(rseq, rseq_cs));
  if (!at) return true;
  if (*at == 0) return false;
  const auto sequence = read_value<rseq_cs>(pid_, *at);
  return !sequence || registers_.rip - sequence->start_ip < sequence->post_commit_offset;
}

TracedThread::Came TracedThread::wait(nanoseconds patience) {
  constexpr int kTurns = 100;
  constexpr std::chrono::microseconds kPause{20};
  const auto limit = Clock::now() + patience;
  not_yet_ = Clock::now();
  for (int i = 0;; ++i) {
    int status = 0;
    const auto now = Clock::now();
    const pid_t found = waitpid(tid_, &status, __WALL | WNOHANG);
    if (found < 0 && errno != EINTR) return Came::end;
    if (found == tid_) {
      if (!WIFSTOPPED(status)) return Came::end;
      const int signal = WSTOPSIG(status), event = status >> 16;
      if (event == PTRACE_EVENT_STOP) return signal == SIGTRAP ? Came::interrupt : Came::group_stop;
      if (signal == (SIGTRAP | 0x80)) return Came::system_call;
      signal_ = signal;
      return signal == SIGTRAP ? Came::trap : Came::signal;
    }
    not_yet_ = now;
    if (now > limit) return Came::nothing;
    // Not sched_yield: on a busy machine that takes milliseconds.
    if (i >= kTurns) std::this_thread::sleep_for(kPause);
  }
}

TracedThread::Came TracedThread::interrupt() {
  trace(PTRACE_INTERRUPT, tid_, 0, nullptr);
  const Came came = wait(kForEver);
  since_ = not_yet_;
  return came;
}

// Returns false if the registers cannot be read; the thread then goes on unchanged.
bool TracedThread::look() {
  if (trace(PTRACE_GETREGS, tid_, 0, &registers_) != 0) return false;
  const auto again = restart(stopped());
  waits_ = again.has_value();
  resume_ = again.value_or(Resume{registers_.rax, registers_.rip});
  is_touched_ = false;
  return true;
}

bool TracedThread::go_on(int request, int signal) {
  held_ += Clock::now() - since_;
  is_stopped_ = trace(request, tid_, 0, number(static_cast<unsigned>(signal))) != 0;
  return !is_stopped_;
}

// orig_rax = -1: no system call is to be restarted, whatever rax holds.
bool TracedThread::set(std::uint64_t rax, std::uint64_t rip, std::uint64_t rsp) {
  user_regs_struct changed = registers_;
  changed.rax = rax;
  changed.rip = rip;
  changed.rsp = rsp;
  changed.orig_rax = ~0ull;
  is_touched_ = true;
  return trace(PTRACE_SETREGS, tid_, 0, &changed) == 0;
}

bool TracedThread::send(std::uint64_t rip, std::uint64_t rsp) {
  if (!set(resume_.rax, rip, rsp)) return false;
  resume_.rip = rip;
  registers_.rsp = rsp;
  waits_ = false;
  return true;
}

// SIGSTOP cannot be blocked; it takes effect once the thread is released.
TracedThread::Came TracedThread::to_system_call_stop() {
  for (;;) {
    if (trace(PTRACE_SYSCALL, tid_, 0, number(static_cast<unsigned>(std::exchange(signal_, 0)))) !=
        0)
      return Came::end;
    const Came came = wait(kForEver);
    if (came == Came::system_call || came == Came::end) return came;
  }
}

std::optional<std::uint64_t> TracedThread::call(std::uint64_t at, long system_call,
                                                std::initializer_list<std::uint64_t> arguments) {
  constexpr std::uint64_t kAll = ~0ull;
  std::uint64_t mask = 0, values[6] = {};
  std::copy_n(arguments.begin(), std::min<std::size_t>(arguments.size(), 6), values);
  user_regs_struct calling = registers_;
  calling.rip = at;
  calling.rax = static_cast<std::uint64_t>(system_call);
  calling.orig_rax = ~0ull;
  calling.rdi = values[0], calling.rsi = values[1], calling.rdx = values[2];
  calling.r10 = values[3], calling.r8 = values[4], calling.r9 = values[5];
  if (trace(PTRACE_GETSIGMASK, tid_, sizeof mask, &mask) != 0 ||
      trace(PTRACE_SETSIGMASK, tid_, sizeof kAll, &kAll) != 0)
    return std::nullopt;
  is_touched_ = true;
  trace(PTRACE_SETREGS, tid_, 0, &calling);
  // System call entry, then exit.
  for (int i = 0; i < 2; ++i)
    if (to_system_call_stop() == Came::end) {
      is_stopped_ = false;
      return std::nullopt;
    }
  const bool is_read = trace(PTRACE_GETREGS, tid_, 0, &calling) == 0;
  if (trace(PTRACE_SETSIGMASK, tid_, sizeof mask, &mask) != 0 || !is_read) return std::nullopt;
  return calling.rax;
}

std::optional<std::uint64_t> TracedThread::mask() const {
  std::uint64_t mask = 0;
  if (trace(PTRACE_GETSIGMASK, tid_, sizeof mask, &mask) != 0) return std::nullopt;
  return mask;
}

bool TracedThread::set_mask(std::uint64_t mask) {
  return trace(PTRACE_SETSIGMASK, tid_, sizeof mask, &mask) == 0;
}

bool TracedThread::write(std::uint64_t address, const void* from, std::size_t bytes) {
  if (write_memory(pid_, address, from, bytes)) return true;
  std::vector<std::uint64_t> words((bytes + 7) / 8);
  std::memcpy(words.data(), from, bytes);
  for (std::size_t i = 0; i < words.size(); ++i)
    if (trace(PTRACE_POKEDATA, tid_, address + i * 8, number(words[i])) != 0) return false;
  return true;
}

}  // namespace gnomon::injector
