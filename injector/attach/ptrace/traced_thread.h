// One thread of another process, stopped by ptrace(2) while the others run. Of one thread of ours,
// in which signals are blocked meanwhile: its end would leave the other where it was sent.
#pragma once
#include <signal.h>
#include <sys/types.h>
#include <sys/user.h>

#include <chrono>
#include <cstdint>
#include <initializer_list>
#include <optional>

#include "injector/attach/remote/waiting.h"

namespace gnomon::injector {

class TracedThread {
 public:
  // Empty: it has ended, may not be traced, is stopped by job control, or a signal has just come
  // for it, which it gets; nothing about it has changed.
  static std::optional<TracedThread> stop(pid_t pid, pid_t tid);
  // It goes on, untraced: where it was, unless it was sent elsewhere.
  ~TracedThread();
  TracedThread(TracedThread&& other) noexcept;
  TracedThread& operator=(TracedThread&&) = delete;

  pid_t tid() const { return tid_; }
  Stopped stopped() const;
  // Where it goes on. True of `waits`: that is, a system call begins anew.
  const Resume& resume() const { return resume_; }
  bool waits() const { return waits_; }
  // In a sequence that the kernel begins anew unless the thread stays in it (rseq(2)), or in code
  // of another kind than 64-bit: its registers must stay as they are.
  bool is_delicate() const;
  // Lets it run until it comes to an address. False: it did not in that time, or waits for what
  // another holds.
  bool run_to(std::uint64_t address, std::chrono::milliseconds patience);
  // Has it make a system call, by an instruction that lies at `at`; it stays where it is. The
  // result as the kernel gives it. Empty: it has ended.
  std::optional<std::uint64_t> call(std::uint64_t at, long number,
                                    std::initializer_list<std::uint64_t> arguments);
  // The signals it blocks, as the program has set them; a wait may have its own meanwhile.
  std::optional<std::uint64_t> mask() const;
  // A wait that has its own begins anew with it.
  bool set_mask(std::uint64_t mask);
  // Also where only code is.
  bool write(std::uint64_t address, const void* from, std::size_t bytes);
  // As it is, but on another stack and at other code. False: it stays where it is.
  bool send(std::uint64_t rip, std::uint64_t rsp);
  // It goes on. For how long it stood still for us.
  std::chrono::nanoseconds release();

 private:
  using Clock = std::chrono::steady_clock;
  enum class Came { interrupt, trap, system_call, signal, group_stop, nothing, end };

  static constexpr std::chrono::nanoseconds kForEver = std::chrono::hours(24);

  TracedThread(pid_t pid, pid_t tid) : pid_(pid), tid_(tid) {}
  Came wait(std::chrono::nanoseconds patience);
  Came interrupt();
  bool look();
  void put_back();
  bool stop_again();
  bool go_on(int request, int signal);
  bool set(std::uint64_t rax, std::uint64_t rip, std::uint64_t rsp);
  Came to_system_call_stop();
  bool run_until_trap(std::uint64_t address, Clock::time_point limit);
  bool is_at(std::uint64_t address) const;
  bool has_trap_to_come() const;
  void take_trap();
  void hold_our_signals();

  pid_t pid_, tid_;
  bool is_stopped_ = false;
  bool waits_ = false;
  bool is_touched_ = false;  // its registers are not those that it was stopped with
  int signal_ = 0;           // to be delivered when it goes on
  user_regs_struct registers_{};
  Resume resume_{};
  std::optional<sigset_t> our_mask_;
  Clock::time_point since_{}, not_yet_{};  // it has stood still; it was last seen running
  std::chrono::nanoseconds held_{};
};

// While one lives, run_to is quick: for the first event of perf's in the machine, as a debug
// register is one, the kernel waits for all CPUs, some 10 ms.
class QuickBreakpoints {
 public:
  QuickBreakpoints();
  ~QuickBreakpoints();
  QuickBreakpoints(const QuickBreakpoints&) = delete;
  QuickBreakpoints& operator=(const QuickBreakpoints&) = delete;

 private:
  int event_;  // -1: it may not be had, and it takes longer
};

}  // namespace gnomon::injector
