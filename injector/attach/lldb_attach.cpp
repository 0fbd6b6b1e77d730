// The collector comes into a process that LLDB holds stopped. LLDB's command thread.
#include "injector/attach/lldb_attach.h"

#include <signal.h>
#include <string.h>

#include <chrono>
#include <string>

#include "injector/attach/lldb_choice.h"
#include "injector/attach/lldb_process.h"
#include "injector/attach/lldb_threads.h"
#include "injector/attach/remote_process.h"
#include "injector/attach/waiting.h"
#include "injector/lldb_commands.h"

namespace gnomon::injector {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds kPatience{5000};

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

// Lets the process run until the insertion is done. Others move meanwhile; where the user looks,
// nothing does.
void run(lldb::SBProcess& process, const Borrowed& borrowed, const Insertion& insertion) {
  const auto limit = Clock::now() + kPatience;
  const auto enough = [&insertion, limit] {
    return insertion.progress() == Insertion::Progress::done || Clock::now() > limit;
  };
  Kept kept;
  while (!enough()) {
    kept.keep(process, [&](lldb::SBThread thread) {
      return thread.GetThreadID() != borrowed.thread.GetThreadID() && is_looked_at(process, thread);
    });
    repair_interrupted_waits(process);
    if (!run_until(process, enough)) return;
  }
}

// A thread that stays is put back to where it was borrowed. One that does not come there goes on by
// itself when it does.
void bring_back(lldb::SBProcess& process, Borrowed& borrowed, const Insertion& insertion,
                std::uint64_t flags) {
  constexpr milliseconds kHandler{50};  // it may be in a signal's
  if (!borrowed.stays || process.GetState() != lldb::eStateStopped) return;
  const auto stays = [&] {
    return insertion.is_staying(borrowed.thread.GetFrameAtIndex(0).GetPC());
  };
  if (insertion.progress() != Insertion::Progress::borrowed && !stays())
    run_alone_to(process, borrowed.thread, insertion.stay(), kHandler);
  if (process.GetState() == lldb::eStateStopped && stays()) {
    put_back(borrowed.thread, borrowed.resume.rip, borrowed.stopped.rsp(), flags);
    return;
  }
  const std::uint64_t one = 1;
  write(process, insertion.release(), &one, sizeof one);
}

// The memory is given back only if nobody is in it any more.
void give_back(lldb::SBProcess& process, std::uint64_t gate, std::uint64_t code) {
  const auto pid = static_cast<pid_t>(process.GetProcessID());
  const auto helper = read_value<std::uint64_t>(pid, gate + GATE_HELPER_TID);
  const auto left = read_value<std::uint64_t>(pid, gate + GATE_LEFT);
  if (!helper || !left || *left == 0) return;
  for (std::uint32_t i = 0; i < process.GetNumThreads(); ++i) {
    lldb::SBThread thread = process.GetThreadAtIndex(i);
    const std::uint64_t pc = thread.GetFrameAtIndex(0).GetPC();
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
  bool moved = false;
  auto borrowed = choose_thread(process, moved);
  if (!borrowed) {
    process.DeallocateMemory(*gate);
    process.DeallocateMemory(*code);
    return tl::unexpected(borrowed.error());
  }
  const std::uint64_t flags = flags_of(borrowed->thread);
  insertion->place(*gate, *code, borrowed->stopped.rsp(), borrowed->resume.rip, borrowed->stays);
  if (!write(process, *gate, &insertion->gate(), sizeof(Gate)) ||
      !write(process, *code, insertion->code().data(), insertion->code().size()) ||
      !set_registers(borrowed->thread,
                     {borrowed->resume.rax, insertion->entry(), insertion->stack_top()}))
    return fault("LLDB cannot write to process " + std::to_string(pid));
  const std::chrono::duration<double, std::milli> held = Clock::now() - start;
  run(process, *borrowed, *insertion);
  bring_back(process, *borrowed, *insertion, flags);
  if (insertion->progress() != Insertion::Progress::done)
    return tl::unexpected(late(process, *insertion));
  repair_interrupted_waits(process);
  auto result = insertion->result();
  give_back(process, *gate, *code);
  if (result) {
    result->held_ms = held.count();
    result->moved = moved;
  }
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
