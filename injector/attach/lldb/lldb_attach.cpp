// Brings the collector into a process that LLDB holds stopped. LLDB's command thread.
#include "injector/attach/lldb/lldb_attach.h"

#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "injector/attach/checks/confinement.h"
#include "injector/attach/checks/left_breakpoints.h"
#include "injector/attach/checks/process_checks.h"
#include "injector/attach/lldb/left_room.h"
#include "injector/attach/lldb/lldb_choice.h"
#include "injector/attach/lldb/lldb_run.h"
#include "injector/attach/lldb/lldb_threads.h"
#include "injector/attach/remote/namespace_view.h"
#include "injector/attach/remote/remote_process.h"
#include "injector/attach/remote/waiting.h"
#include "injector/base/recording.h"
#include "injector/base/sampler.h"
#include "injector/lldb/lldb_commands.h"
#include "injector/lldb/lldb_process.h"

namespace gnomon::injector {
namespace {

using Clock = std::chrono::steady_clock;

bool ends_by_default(int number) {
  for (const int harmless :
       {SIGCHLD, SIGCONT, SIGSTOP, SIGTSTP, SIGTTIN, SIGTTOU, SIGURG, SIGWINCH})
    if (number == harmless) return false;
  return true;
}

// Returns the signal that will end the process as soon as it runs, or 0.
int fatal_signal(lldb::SBProcess& process) {
  const auto pid = static_cast<pid_t>(process.GetProcessID());
  for (std::uint32_t i = 0; i < process.GetNumThreads(); ++i) {
    lldb::SBThread thread = process.GetThreadAtIndex(i);
    const int number = signal_of(thread);
    if (number == 0 || process.GetUnixSignals().GetShouldSuppress(number)) continue;
    const auto tid = static_cast<pid_t>(thread.GetThreadID());
    const auto handled =
        status_mask(pid, tid, "SigCgt").value_or(0) | status_mask(pid, tid, "SigIgn").value_or(0);
    if (ends_by_default(number) && !(handled >> (number - 1) & 1)) return number;
  }
  return 0;
}

// Leaves the room to the next insertion if no thread is in it any more. sent: the threads that
// were.
void give_back(lldb::SBProcess& process, const Insertion& insertion, const Room& room,
               const std::vector<pid_t>& sent) {
  const auto pid = static_cast<pid_t>(process.GetProcessID());
  const auto left = read_value<std::uint64_t>(pid, room.gate + GATE_LEFT);
  if (!left || *left == 0 || !insertion.has_helper_left()) return;
  for (const pid_t tid : sent)
    if (state_of(pid, tid) != '\0' && comes_to(pid, tid, room.code, kCodeBytes)) return;
  if (leave_room(pid, room)) return;
  process.DeallocateMemory(room.gate);
  process.DeallocateMemory(room.code);
}

Fault late(lldb::SBProcess& process, const Insertion& insertion) {
  if (process.GetState() != lldb::eStateStopped) return why_not_held(process);
  const std::string pid = std::to_string(process.GetProcessID());
  if (!insertion.is_there()) return insertion.loss();
  return {"process " + pid + " is still " + insertion.step() +
              ", perhaps behind a lock that a stopped thread holds",
          "type `continue`: " + insertion.outlook()};
}

Result<Room> make_room(lldb::SBProcess& process, lldb::SBThread thread) {
  if (const auto left = take_left_room(static_cast<pid_t>(process.GetProcessID()))) return *left;
  const auto gate = allocate(process, thread, kGateBytes, "rw-");
  if (!gate) return tl::unexpected(gate.error());
  const auto code = allocate(process, thread, kCodeBytes, "r-x");
  if (!code) return tl::unexpected(code.error());
  return Room{*gate, *code};
}

// Returns false if that fails; the thread is then unchanged.
bool borrow(lldb::SBProcess& process, Borrowed& borrowed, Insertion& insertion, const Room& room) {
  const Stopped& was = borrowed.stopped;
  insertion.place(room.gate, room.code, was, borrowed.resume, borrowed.stays);
  if (!write(process, room.gate, &insertion.gate(), sizeof(Gate)) ||
      !write(process, room.code, insertion.code().data(), insertion.code().size()))
    return false;
  if (set_registers(borrowed.thread,
                    {borrowed.resume.rax, insertion.entry(), insertion.stack_top()}))
    return true;
  set_registers(borrowed.thread, {was.rax(), was.rip(), was.rsp()});
  return false;
}

std::vector<std::string> arrived(lldb::SBProcess& process,
                                 const std::vector<lldb::SBThread>& placed_before) {
  std::vector<std::string> texts;
  for (lldb::SBThread& thread : placed_threads(process)) {
    const bool is_new =
        std::none_of(placed_before.begin(), placed_before.end(),
                     [&](lldb::SBThread old) { return old.GetThreadID() == thread.GetThreadID(); });
    char why[512] = "";
    thread.GetStopDescription(why, sizeof why);
    if (is_new) texts.push_back(fmt::format("#{} has stopped ({})", thread.GetIndexID(), why));
  }
  return texts;
}

// What LLDB reads lacks its own breakpoints.
Result<Insertion> prepare_attach(lldb::SBProcess& process, const Settings& settings) {
  const auto pid = static_cast<pid_t>(process.GetProcessID());
  for (const LeftBreakpoint& left : breakpoints_on_the_way(pid)) {
    lldb::SBError error;
    unsigned char byte = left.original;
    process.ReadMemory(left.address, &byte, sizeof byte, error);
    if (byte != left.original) return tl::unexpected(left_breakpoint(pid, left));
  }
  return Insertion::prepare(pid, settings);
}

using Prepare = std::function<Result<Insertion>(pid_t pid)>;

// is_under_way becomes true once a thread of the process does what was brought into it.
Result<AttachResult> insert(lldb::SBProcess& process, const Prepare& prepare, bool& is_under_way) {
  const auto start = Clock::now();
  const auto pid = static_cast<pid_t>(process.GetProcessID());
  if (const int fatal = fatal_signal(process); fatal != 0)
    return fault("it is about to be ended by a signal (SIG" + signal_name(fatal) + ")",
                 "enable the collector before that, or `run` it again");
  const std::vector<lldb::SBThread> placed = placed_threads(process);
  auto insertion = prepare(pid);
  if (!insertion) return tl::unexpected(insertion.error());
  if (auto fits = check_filters_of_held(pid, insertion->hands()); !fits)
    return tl::unexpected(fits.error());
  auto chosen = choose_thread(process);
  if (!chosen) return tl::unexpected(chosen.error());
  Borrowed& borrowed = chosen->borrowed;
  const auto room = make_room(process, borrowed.thread);
  if (!room) return tl::unexpected(room.error());
  borrowed.flags = flags_of(borrowed.thread);
  if (!borrow(process, borrowed, *insertion, *room))
    return fault("LLDB cannot write to process " + std::to_string(pid), "");
  is_under_way = true;
  std::vector<pid_t> sent;
  const auto free = chosen->free + run_insertion(process, *chosen, *insertion, sent);
  if (insertion->progress() != Insertion::Progress::done)
    return tl::unexpected(late(process, *insertion));
  repair_interrupted_waits(process);
  auto result = insertion->result();
  give_back(process, *insertion, *room, sent);
  if (result) {
    result->held_ms =
        std::chrono::duration<double, std::milli>(Clock::now() - start - free).count();
    result->moved = chosen->moved;
    result->arrived = arrived(process, placed);
  }
  return result;
}

Result<AttachResult> insert(lldb::SBDebugger& debugger, lldb::SBProcess& process,
                            const Prepare& prepare, bool& is_under_way) {
  if (process.GetState() != lldb::eStateStopped)
    return fault("process " + std::to_string(process.GetProcessID()) + " is not stopped",
                 "stop it with Ctrl-C or `process interrupt`, and repeat");
  if (is_handling_stop(debugger))
    return fault("LLDB is still handling the stop of process " +
                     std::to_string(process.GetProcessID()) + ", and cannot let it run meanwhile",
                 "type the command at the prompt, not as one of a breakpoint or a stop hook");
  if (!let_sigprof_pass(debugger))
    return fault("LLDB does not let SIGPROF pass", "see `help process handle`");
  const AsIs view(debugger, process);
  const QuietLoader loader(process.GetTarget());
  const QuietStopHooks hooks(debugger);
  return insert(process, prepare, is_under_way);
}

}  // namespace

Result<AttachResult> attach_by_lldb(lldb::SBDebugger debugger, lldb::SBProcess process,
                                    const Settings& wanted) {
  const auto pid = static_cast<pid_t>(process.GetProcessID());
  Settings settings = wanted;
  const ClockChoice choice = choose_clock(settings, pid);
  const std::string program = program_identity(pid);
  bool is_under_way = false;
  auto result = insert(
      debugger, process, [&](pid_t) { return prepare_attach(process, settings); }, is_under_way);
  if (!result && !is_program(pid, program))
    return tl::unexpected(with_left_behind(result.error(), settings, pid));
  if (!result && !is_under_way && process.GetState() == lldb::eStateStopped)
    return or_from_outside(wanted, pid, result.error());
  if (result) {
    follow_attached(settings, pid, choice, *result);
  }
  return result;
}

Result<AttachResult> release_by_lldb(lldb::SBDebugger debugger, lldb::SBProcess process,
                                     std::uint64_t session) {
  if (!has_collector(static_cast<pid_t>(process.GetProcessID()))) return AttachResult{};
  bool is_under_way = false;
  return insert(
      debugger, process, [&](pid_t pid) { return Insertion::prepare_release(pid, session); },
      is_under_way);
}

}  // namespace gnomon::injector
