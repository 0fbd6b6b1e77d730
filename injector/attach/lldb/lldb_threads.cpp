// Controls which threads of a process that LLDB holds run, and how far. LLDB's command thread; the
// process is stopped.
#include "injector/attach/lldb/lldb_threads.h"

#include <signal.h>
#include <string.h>
#include <sys/syscall.h>

#include <algorithm>
#include <thread>

#include "injector/attach/checks/lost_process.h"
#include "injector/attach/remote/remote_process.h"
#include "injector/attach/remote/waiting.h"
#include "injector/lldb/lldb_process.h"

namespace gnomon::injector {
namespace {

using Clock = std::chrono::steady_clock;

bool has_sigstop_to_come(pid_t pid) {
  const auto pending = status_mask(pid, pid, "ShdPnd");
  return pending && *pending >> (SIGSTOP - 1) & 1;
}

bool runs_any(pid_t pid) {
  const std::vector<pid_t> threads = threads_of(pid);
  return std::any_of(threads.begin(), threads.end(), [&](pid_t tid) {
    const char state = state_of(pid, tid);
    return state == 'R' || state == 'S' || state == 'D';
  });
}

// Returns true if LLDB does not pass SIGSTOP on, which is its default.
bool takes_sigstop(lldb::SBProcess process) {
  lldb::SBUnixSignals signals = process.GetUnixSignals();
  return signals.GetShouldStop(SIGSTOP) && signals.GetShouldSuppress(SIGSTOP);
}

// Shortens the 20 s for which LLDB waits for a process that it has lost; restores the setting at
// its end.
class Impatience {
 public:
  explicit Impatience(lldb::SBProcess process) : debugger_(process.GetTarget().GetDebugger()) {}
  ~Impatience() {
    if (!before_.empty()) set(before_);
  }
  Impatience(const Impatience&) = delete;
  Impatience& operator=(const Impatience&) = delete;
  void begin() {
    if (!before_.empty()) return;
    const lldb::SBStringList values =
        lldb::SBDebugger::GetInternalVariableValue(kSetting, debugger_.GetInstanceName());
    if (values.IsValid() && values.GetSize() > 0) before_ = values.GetStringAtIndex(0);
    if (!before_.empty()) set("2");
  }

 private:
  static constexpr const char* kSetting = "target.process.interrupt-timeout";  // s
  void set(const std::string& value) {
    lldb::SBDebugger::SetInternalVariable(kSetting, value.c_str(), debugger_.GetInstanceName());
  }

  lldb::SBDebugger debugger_;
  std::string before_;
};

// Stops the process once it has run enough.
class Stopper {
 public:
  Stopper(lldb::SBProcess process, Impatience& impatience)
      : process_(process),
        impatience_(impatience),
        pid_(static_cast<pid_t>(process.GetProcessID())),
        by_signal_(pid_ > 0 && takes_sigstop(process)),
        pause_(100 + process.GetNumThreads()) {}

  void ask() {
    const auto now = Clock::now();
    if (now < due_) return;
    if (is_lost(now)) {
      impatience_.begin();
      process_.SendAsyncInterrupt();
    } else if (held_since_ || is_about_to_stop(now)) {
      return;
    } else if (by_signal_ && !asked_ && tracer_of(pid_) != 0) {
      // SIGSTOP, because after its own interrupt LLDB waits 100 ms while the process stands still.
      kill(pid_, SIGSTOP);
    } else {
      process_.SendAsyncInterrupt();
    }
    if (!asked_) asked_ = now;
    due_ = now + pause_;
  }

 private:
  bool is_lost(Clock::time_point now) {
    constexpr std::chrono::milliseconds kTold{500};
    if (!is_held_by_exec(pid_)) {
      held_since_.reset();
      return false;
    }
    if (!held_since_) held_since_ = now;
    return now > *held_since_ + kTold;
  }

  // Returns true while a thread still takes the signal or has just taken it. LLDB must not be asked
  // to interrupt as well: it would wait for one thread of its choice and lose the process if that
  // one ends.
  bool is_about_to_stop(Clock::time_point now) const {
    constexpr int kLongest = 20;  // pauses
    if (!by_signal_ || !asked_ || now > *asked_ + kLongest * pause_) return false;
    return !has_sigstop_to_come(pid_) || runs_any(pid_);
  }

  lldb::SBProcess process_;
  Impatience& impatience_;
  pid_t pid_;
  bool by_signal_;
  std::optional<Clock::time_point> asked_;
  std::chrono::milliseconds pause_;
  Clock::time_point due_;
  std::optional<Clock::time_point> held_since_;
};

// Runs until it is told to stop.
std::jthread watcher(Stopper stopper, const std::function<bool()>& enough,
                     Clock::time_point& stop_asked) {
  return std::jthread([stopper, &enough, &stop_asked](const std::stop_token& stop) mutable {
    constexpr std::chrono::microseconds kPause{200};
    for (bool is_enough = false; !stop.stop_requested(); std::this_thread::sleep_for(kPause)) {
      if (!is_enough && enough()) {
        is_enough = true;
        stop_asked = Clock::now();
      }
      if (is_enough) stopper.ask();
    }
  });
}

// Takes the SIGSTOP back if something else has stopped the process first; it would stop the process
// the next time.
void take_sigstop(lldb::SBProcess& process) {
  constexpr int kMost = 3;
  const auto pid = static_cast<pid_t>(process.GetProcessID());
  for (int i = 0; i < kMost && process.GetState() == lldb::eStateStopped; ++i) {
    if (!has_sigstop_to_come(pid)) return;
    process.Continue();
  }
}

// Returns true if the thread stands only at internal breakpoints of LLDB's (negative numbers), such
// as the one by which it learns of libraries; LLDB would continue by itself. A deleted or disabled
// breakpoint has no number.
bool is_at_internal(lldb::SBThread& thread) {
  constexpr std::uint32_t kOne = 2;  // number and location
  const std::size_t count = thread.GetStopReasonDataCount();
  for (std::uint32_t i = 0; i < count; i += kOne)
    if (static_cast<lldb::break_id_t>(thread.GetStopReasonDataAtIndex(i)) >= 0) return false;
  return count > 0 || is_at_loader_breakpoint(thread);
}

}  // namespace

int signal_of(lldb::SBThread thread) {
  if (thread.GetStopReason() != lldb::eStopReasonSignal) return 0;
  const auto number = static_cast<int>(thread.GetStopReasonDataAtIndex(0));
  return number == SIGSTOP ? 0 : number;
}

std::string signal_name(int number) {
  const char* name = sigabbrev_np(number);
  return name ? name : std::to_string(number);
}

bool is_placed(lldb::SBThread thread) {
  switch (thread.GetStopReason()) {
    case lldb::eStopReasonBreakpoint:
      return !is_at_internal(thread);
    case lldb::eStopReasonWatchpoint:
    case lldb::eStopReasonException:
    case lldb::eStopReasonPlanComplete:
      return true;
    case lldb::eStopReasonSignal: {
      // A signal that LLDB passes without a stop has only coincided with another stop.
      const int number = signal_of(thread);
      return number != 0 && thread.GetProcess().GetUnixSignals().GetShouldStop(number);
    }
    default:
      return false;
  }
}

std::vector<lldb::SBThread> placed_threads(lldb::SBProcess process) {
  std::vector<lldb::SBThread> placed;
  for (std::uint32_t i = 0; i < process.GetNumThreads(); ++i)
    if (is_placed(process.GetThreadAtIndex(i))) placed.push_back(process.GetThreadAtIndex(i));
  return placed;
}

bool is_looked_at(lldb::SBThread thread, lldb::tid_t selected) {
  return is_placed(thread) || thread.GetThreadID() == selected;
}

std::vector<pid_t> held_threads(lldb::SBProcess process) {
  std::vector<pid_t> held;
  for (std::uint32_t i = 0; i < process.GetNumThreads(); ++i) {
    lldb::SBThread thread = process.GetThreadAtIndex(i);
    if (thread.IsSuspended() && signal_of(thread) != SIGPROF)
      held.push_back(static_cast<pid_t>(thread.GetThreadID()));
  }
  return held;
}

Kept::~Kept() {
  for (lldb::SBThread& thread : threads_) thread.Resume();
}

void Kept::keep(lldb::SBProcess& process, const std::function<bool(lldb::SBThread)>& which) {
  for (std::uint32_t i = 0; i < process.GetNumThreads(); ++i) {
    lldb::SBThread thread = process.GetThreadAtIndex(i);
    if (thread.IsSuspended() || !which(thread)) continue;
    thread.Suspend();
    threads_.push_back(thread);
  }
}

std::optional<std::chrono::nanoseconds> run_until(lldb::SBProcess& process,
                                                  const std::function<bool()>& enough) {
  const auto pid = static_cast<pid_t>(process.GetProcessID());
  const auto start = Clock::now();
  Clock::time_point stop_asked = Clock::time_point::max(), stopped;
  bool ran = false;
  {
    Impatience impatience(process);
    const auto watch = watcher(Stopper(process, impatience), enough, stop_asked);
    ran = process.Continue().Success();
    stopped = Clock::now();
  }
  take_sigstop(process);
  if (ran && process.GetState() == lldb::eStateStopped)
    return std::min(stop_asked, stopped) - start;
  if (pid > 0) let_go_on(pid);
  return std::nullopt;
}

Fault why_not_held(lldb::SBProcess& process) {
  const auto pid = static_cast<pid_t>(process.GetProcessID());
  if (has_ended(pid)) return {"process " + std::to_string(pid) + " ended meanwhile", ""};
  if (process.GetState() == lldb::eStateRunning)
    return {"LLDB did not stop process " + std::to_string(pid) + " again",
            "interrupt it and repeat"};
  if (const pid_t tracer = tracer_of(pid))
    return {"LLDB has lost process " + std::to_string(pid) + ", which its server still holds",
            "end the server: kill " + std::to_string(tracer)};
  return {"LLDB has lost process " + std::to_string(pid) + ", which runs on", "attach again"};
}

Run run_alone_to(lldb::SBProcess& process, lldb::SBThread thread, std::uint64_t address,
                 std::chrono::milliseconds patience) {
  lldb::SBTarget target = process.GetTarget();
  const auto pid = static_cast<pid_t>(process.GetProcessID());
  const auto tid = static_cast<pid_t>(thread.GetThreadID());
  lldb::SBBreakpoint there = target.BreakpointCreateByAddress(address);
  there.SetThreadID(thread.GetThreadID());
  Run run{};
  {
    Kept others;
    others.keep(process,
                [&](lldb::SBThread other) { return other.GetThreadID() != thread.GetThreadID(); });
    int waits = 0;  // how often in a row the thread was seen in futex(2)
    const auto ran = run_until(process, [&, limit = Clock::now() + patience] {
      constexpr int kStays = 5;
      waits = system_call_of(pid, tid) == SYS_futex ? waits + 1 : 0;
      return waits >= kStays || Clock::now() > limit;
    });
    run.took = ran.value_or(std::chrono::nanoseconds{});
  }
  target.BreakpointDelete(there.GetID());
  run.is_there = program_counter_of(pid, tid) == address;
  return run;
}

}  // namespace gnomon::injector
