// The collector comes into a process that LLDB holds stopped. LLDB's command thread.
#include "injector/attach/lldb_attach.h"

#include <signal.h>
#include <string.h>

#include <chrono>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "injector/attach/lldb_process.h"
#include "injector/attach/remote_process.h"
#include "injector/attach/waiting.h"
#include "injector/lldb_commands.h"

namespace gnomon::injector {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds kPatience{5000};

struct Borrowed {
  lldb::SBThread thread;
  Resume resume;
  std::uint64_t rsp;
};

std::optional<Borrowed> fit(lldb::SBProcess& process, lldb::SBThread thread) {
  const auto pid = static_cast<pid_t>(process.GetProcessID());
  const auto tid = static_cast<pid_t>(thread.GetThreadID());
  if (!is_plain_wait(pid, tid) || has_signal_to_come(pid, tid)) return std::nullopt;
  const Stopped stopped = registers_of(pid, thread);
  const auto resume = restart(stopped);
  if (!resume || runs_handler(stopped)) return std::nullopt;
  return Borrowed{thread, *resume, stopped.rsp};
}

Result<Borrowed> choose(lldb::SBProcess& process) {
  for (std::uint32_t i = 0; i < process.GetNumThreads(); ++i)
    if (auto found = fit(process, process.GetThreadAtIndex(i))) return *found;
  return fault("no thread of it waits in a system call, where the collector can come in",
               "let it run, stop it again and repeat, or start it from the debugger");
}

// 0: it did not stop for a signal. SIGSTOP is how a debugger stops threads.
int signal_of(lldb::SBThread& thread) {
  if (thread.GetStopReason() != lldb::eStopReasonSignal) return 0;
  const auto number = static_cast<int>(thread.GetStopReasonDataAtIndex(0));
  return number == SIGSTOP ? 0 : number;
}

// The signal that will end the process as soon as it runs; 0: none.
int fatal_signal(lldb::SBProcess& process) {
  const auto pid = static_cast<pid_t>(process.GetProcessID());
  for (std::uint32_t i = 0; i < process.GetNumThreads(); ++i) {
    lldb::SBThread thread = process.GetThreadAtIndex(i);
    const int number = signal_of(thread);
    const auto caught = status_mask(pid, static_cast<pid_t>(thread.GetThreadID()), "SigCgt");
    for (const int fatal : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGSYS})
      if (number == fatal && !(caught && *caught >> (fatal - 1) & 1)) return fatal;
  }
  return 0;
}

// Others move while the collector comes in; where the user looks, nothing does.
bool is_looked_at(lldb::SBProcess& process, lldb::SBThread& thread) {
  if (signal_of(thread) != 0) return true;
  switch (thread.GetStopReason()) {
    case lldb::eStopReasonBreakpoint:
    case lldb::eStopReasonWatchpoint:
    case lldb::eStopReasonException:
    case lldb::eStopReasonPlanComplete:
      return true;
    default:
      return thread.GetThreadID() == process.GetSelectedThread().GetThreadID();
  }
}

void keep_where_they_are(lldb::SBProcess& process, lldb::SBThread& borrowed,
                         std::vector<lldb::SBThread>& kept) {
  for (std::uint32_t i = 0; i < process.GetNumThreads(); ++i) {
    lldb::SBThread thread = process.GetThreadAtIndex(i);
    if (thread.GetThreadID() == borrowed.GetThreadID() || thread.IsSuspended() ||
        !is_looked_at(process, thread))
      continue;
    thread.Suspend();
    kept.push_back(thread);
  }
}

// Interrupts the process once the insertion is done or its time is over, until told to stop.
std::jthread watcher(lldb::SBProcess process, const Insertion& insertion, Clock::time_point limit) {
  return std::jthread([process, &insertion, limit](const std::stop_token& stop) mutable {
    for (milliseconds pause{0}; !stop.stop_requested();) {
      if (insertion.progress() == Insertion::Progress::done || Clock::now() > limit) {
        process.SendAsyncInterrupt();
        pause = milliseconds(100);  // unless it was lost
      }
      for (const auto until = Clock::now() + pause; !stop.stop_requested();) {
        std::this_thread::sleep_for(std::chrono::microseconds(200));
        if (Clock::now() >= until) break;
      }
    }
  });
}

// Lets the process run until the insertion is done.
void run(lldb::SBProcess& process, lldb::SBThread& borrowed, const Insertion& insertion) {
  const auto limit = Clock::now() + kPatience;
  std::vector<lldb::SBThread> kept;
  while (insertion.progress() != Insertion::Progress::done && Clock::now() < limit) {
    keep_where_they_are(process, borrowed, kept);
    repair_interrupted_waits(process);
    const auto watch = watcher(process, insertion, limit);
    if (process.Continue().Fail() || process.GetState() != lldb::eStateStopped) break;
  }
  for (lldb::SBThread& thread : kept) thread.Resume();
}

// The memory is given back only if nobody is in it any more.
void give_back(lldb::SBProcess& process, std::uint64_t gate, std::uint64_t code) {
  const auto pid = static_cast<pid_t>(process.GetProcessID());
  const auto helper = read_value<std::uint64_t>(pid, gate + GATE_HELPER_TID);
  const auto left = read_value<std::uint64_t>(pid, gate + GATE_LEFT);
  if (!helper || !left || *left == 0) return;
  for (std::uint32_t i = 0; i < process.GetNumThreads(); ++i) {
    lldb::SBThread thread = process.GetThreadAtIndex(i);
    const std::uint64_t pc = registers_of(pid, thread).rip;
    if (thread.GetThreadID() == *helper || (pc >= code && pc < code + kCodeBytes)) return;
  }
  process.DeallocateMemory(gate);
  process.DeallocateMemory(code);
}

Fault late(lldb::SBProcess& process, const Insertion& insertion) {
  const std::string pid = std::to_string(process.GetProcessID());
  if (process.GetState() != lldb::eStateStopped) return {"process " + pid + " ended meanwhile", ""};
  return {"process " + pid + " is still " + insertion.step() +
              ", perhaps behind a lock that a stopped thread holds",
          "type `continue`: recording begins by itself once it gets there"};
}

Result<AttachResult> attach(lldb::SBProcess& process, const AttachSettings& settings) {
  const auto start = Clock::now();
  const auto pid = static_cast<pid_t>(process.GetProcessID());
  if (const int fatal = fatal_signal(process); fatal != 0)
    return fault(std::string("it has crashed (SIG") + sigabbrev_np(fatal) + ")",
                 "enable the collector before that, or `run` it again");
  auto insertion = Insertion::prepare(pid, settings);
  if (!insertion) return tl::unexpected(insertion.error());
  const auto gate = allocate(process, kGateBytes, "rw-");
  if (!gate) return tl::unexpected(gate.error());
  const auto code = allocate(process, kCodeBytes, "r-x");
  if (!code) return tl::unexpected(code.error());
  auto borrowed = choose(process);
  if (!borrowed) {
    process.DeallocateMemory(*gate);
    process.DeallocateMemory(*code);
    return tl::unexpected(borrowed.error());
  }
  insertion->place(*gate, *code, borrowed->rsp, borrowed->resume.rip);
  if (!write(process, *gate, &insertion->gate(), sizeof(Gate)) ||
      !write(process, *code, insertion->code().data(), insertion->code().size()) ||
      !set_registers(borrowed->thread,
                     {borrowed->resume.rax, insertion->entry(), insertion->stack_top()}))
    return fault("LLDB cannot write to process " + std::to_string(pid));
  const std::chrono::duration<double, std::milli> held = Clock::now() - start;
  run(process, borrowed->thread, *insertion);
  if (insertion->progress() != Insertion::Progress::done)
    return tl::unexpected(late(process, *insertion));
  repair_interrupted_waits(process);
  auto result = insertion->result();
  give_back(process, *gate, *code);
  if (result) result->held_ms = held.count();
  return result;
}

}  // namespace

Result<AttachResult> attach_by_lldb(lldb::SBDebugger debugger, lldb::SBProcess process,
                                    const AttachSettings& settings) {
  if (process.GetState() != lldb::eStateStopped)
    return fault("process " + std::to_string(process.GetProcessID()) + " is not stopped",
                 "stop it with Ctrl-C or `process interrupt`, and repeat");
  if (!let_sigprof_pass(debugger))
    return fault("LLDB does not let SIGPROF pass", "see `help process handle`");
  const AsIs view(debugger, process);
  const QuietLoader quiet(process.GetTarget());
  return attach(process, settings);
}

}  // namespace gnomon::injector
