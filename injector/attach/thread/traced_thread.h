// One thread of another process, stopped by ptrace(2) while the others run. Used by one thread,
// with all signals blocked: if it ended, the other thread would stay where it was sent.
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

inline constexpr std::uint64_t kSigtrap = 1ull << (SIGTRAP - 1);  // in a mask

class TracedThread {
 public:
  // Returns nothing, with the thread unchanged, if it has ended, may not be traced, is stopped by
  // job control, or has just received a signal, which is delivered.
  static std::optional<TracedThread> stop(pid_t pid, pid_t tid);
  // The thread goes on untraced, where it was unless it was sent elsewhere.
  ~TracedThread();
  TracedThread(TracedThread&& other) noexcept;
  TracedThread& operator=(TracedThread&&) = delete;

  pid_t tid() const { return tid_; }
  Stopped stopped() const;
  // Where the thread goes on. waits(): a system call will restart there.
  const Resume& resume() const { return resume_; }
  bool waits() const { return waits_; }
  // Returns true inside a restartable sequence (rseq(2)) or code that is not 64-bit; the registers
  // must then stay as they are.
  bool is_delicate() const;
  // Lets the thread run to an address. Returns false if it does not get there in time or waits for
  // a lock. Where the machine's debug registers do not work it goes step by step, which is slower.
  bool run_to(std::uint64_t address, std::chrono::milliseconds patience);
  // Returns false on a machine, a virtual one, where they can be set and never trap. Where the
  // kernel does not let this process try, they are believed in.
  static bool debug_registers_work();
  // Makes a system call in the thread, with the syscall instruction at address `at`; its registers
  // are restored. Returns the kernel's result, or nothing if the thread has ended.
  std::optional<std::uint64_t> call(std::uint64_t at, long number,
                                    std::initializer_list<std::uint64_t> arguments);
  // Returns the signals that the thread blocks, as the program has set them; a wait may use another
  // mask meanwhile.
  std::optional<std::uint64_t> mask() const;
  // Sets that mask. A wait with a mask of its own restarts with its own.
  bool set_mask(std::uint64_t mask);
  // Writes memory, also read-only code.
  bool write(std::uint64_t address, const void* from, std::size_t bytes);
  // Sets instruction and stack pointer. Returns false if that failed and the thread stays where it
  // is.
  bool send(std::uint64_t rip, std::uint64_t rsp);
  // Lets the thread go on. Returns for how long it was stopped.
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
  bool run_by_register(std::uint64_t address, Clock::time_point limit);
  bool run_until_trap(std::uint64_t address, Clock::time_point limit);
  bool run_by_steps(std::uint64_t address, Clock::time_point limit);
  bool step(const user_regs_struct& at, Clock::time_point limit);
  bool is_own_trap(const siginfo_t& trap) const;
  bool is_at_own_trap() const;
  bool is_at(std::uint64_t address) const;
  bool has_trap_to_come() const;
  void take_trap();
  void hold_our_signals();

  pid_t pid_, tid_;
  bool is_stopped_ = false;
  bool waits_ = false;
  bool is_touched_ = false;  // the registers were changed since the stop
  bool is_stepped_ = false;  // run_to has gone step by step
  int signal_ = 0;           // to be delivered when it goes on
  user_regs_struct registers_{};
  Resume resume_{};
  std::optional<sigset_t> our_mask_;
  Clock::time_point since_{}, not_yet_{};  // start of the stop; last time seen running
  std::chrono::nanoseconds held_{};
};

// Keeps run_to fast during its lifetime: a debug register is a perf event, and for the first perf
// event in the machine the kernel waits for all CPUs, about 10 ms.
class QuickBreakpoints {
 public:
  QuickBreakpoints();
  ~QuickBreakpoints();
  QuickBreakpoints(const QuickBreakpoints&) = delete;
  QuickBreakpoints& operator=(const QuickBreakpoints&) = delete;

 private:
  int event_;  // -1: refused, so that run_to is slower
};

}  // namespace gnomon::injector
