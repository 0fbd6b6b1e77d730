// The collector comes into a process that LLDB holds stopped. LLDB's command thread.
#include "injector/attach/lldb_attach.h"

#include <signal.h>
#include <string.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "injector/attach/confinement.h"
#include "injector/attach/lldb_choice.h"
#include "injector/attach/lldb_process.h"
#include "injector/attach/lldb_threads.h"
#include "injector/attach/lldb_unblock.h"
#include "injector/attach/remote_process.h"
#include "injector/attach/view.h"
#include "injector/attach/waiting.h"
#include "injector/lldb_commands.h"

namespace gnomon::injector {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds kPatience{5000};

bool ends_by_default(int number) {
  for (const int harmless :
       {SIGCHLD, SIGCONT, SIGSTOP, SIGTSTP, SIGTTIN, SIGTTOU, SIGURG, SIGWINCH})
    if (number == harmless) return false;
  return true;
}

std::string name_of(int number) {
  const char* name = sigabbrev_np(number);
  return name ? name : std::to_string(number);
}

// The signal that will end the process as soon as it runs; 0: none.
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

bool is_staying(lldb::SBProcess& process, const Borrowed& borrowed, const Insertion& insertion) {
  return borrowed.stays && insertion.is_staying(program_counter_of(
                               static_cast<pid_t>(process.GetProcessID()),
                               static_cast<pid_t>(borrowed.thread.GetThreadID())));
}

// A borrowed thread is its own again.
bool has_left(lldb::SBThread thread, const Insertion& insertion) {
  const auto pid = static_cast<pid_t>(thread.GetProcess().GetProcessID());
  return insertion.progress() != Insertion::Progress::borrowed &&
         !insertion.is_in_gate(program_counter_of(pid, static_cast<pid_t>(thread.GetThreadID())));
}

void put_home(Borrowed& borrowed) {
  put_back(borrowed.thread, borrowed.resume.rip, borrowed.stopped.rsp(), borrowed.flags);
  borrowed.stays = false;
}

// Lets the process run until the insertion is done; for how long. Others move meanwhile; where the
// user looks, nothing does.
std::chrono::nanoseconds run(lldb::SBProcess& process, Chosen& chosen, Insertion& insertion) {
  std::chrono::nanoseconds ran{};
  Borrowed& borrowed = chosen.borrowed;
  const bool comes_back = borrowed.stays;
  const auto limit = Clock::now() + kPatience;
  LldbUnblocking unblocking(process, insertion);
  static constexpr milliseconds kLeaving{20};
  std::optional<Clock::time_point> done;
  const auto enough = [&insertion, limit, &done] {
    insertion.hand_over();
    if (Clock::now() > limit) return true;
    if (!done && insertion.progress() != Insertion::Progress::done) return false;
    if (!done) done = Clock::now();
    return insertion.has_helper_left() || Clock::now() > *done + kLeaving;
  };
  Kept kept;
  while (!enough()) {
    kept.keep(process, [&](lldb::SBThread thread) {
      if (thread.GetThreadID() == borrowed.thread.GetThreadID())
        return comes_back ? !borrowed.stays : has_left(thread, insertion) && is_placed(thread);
      return chosen.selected_holds ? is_placed(thread) : is_looked_at(thread, chosen.selected);
    });
    if (unblocking.is_due()) unblocking.look();
    insertion.note_held(held_threads(process));
    repair_interrupted_waits(process);
    const auto start = Clock::now();
    const bool stopped = run_until(process, [&] { return enough() || unblocking.is_due(); });
    ran += Clock::now() - start;
    if (!stopped) break;
    if (unblocking.is_due() && is_staying(process, borrowed, insertion)) put_home(borrowed);
  }
  return ran;
}

// A thread that stays is put back to where it was borrowed. One that does not come there goes on by
// itself when it does.
void bring_back(lldb::SBProcess& process, Borrowed& borrowed, const Insertion& insertion) {
  constexpr milliseconds kFirst{2}, kLongest{64};
  if (!borrowed.stays || process.GetState() != lldb::eStateStopped) return;
  const auto stays = [&] { return is_staying(process, borrowed, insertion); };
  // A signal's handler may run on top of it.
  Kept others;
  others.keep(process, [&](lldb::SBThread thread) {
    return thread.GetThreadID() != borrowed.thread.GetThreadID();
  });
  for (milliseconds handler = kFirst;
       handler <= kLongest && !stays() && insertion.progress() == Insertion::Progress::done;
       handler *= 2)
    if (!run_until(process, [until = Clock::now() + handler] { return Clock::now() > until; }))
      return;
  if (process.GetState() == lldb::eStateStopped && stays()) {
    put_home(borrowed);
    return;
  }
  const std::uint64_t one = 1;
  write(process, insertion.release(), &one, sizeof one);
}

// The memory is given back only if nobody is in it any more.
void give_back(lldb::SBProcess& process, const Insertion& insertion, std::uint64_t gate,
               std::uint64_t code) {
  const auto pid = static_cast<pid_t>(process.GetProcessID());
  const auto left = read_value<std::uint64_t>(pid, gate + GATE_LEFT);
  if (!left || *left == 0 || !insertion.has_helper_left()) return;
  for (const pid_t tid : threads_of(pid))
    if (comes_to(pid, tid, code, kCodeBytes)) return;
  process.DeallocateMemory(gate);
  process.DeallocateMemory(code);
}

Fault late(lldb::SBProcess& process, const Insertion& insertion) {
  const std::string pid = std::to_string(process.GetProcessID());
  if (process.GetState() != lldb::eStateStopped) return {"process " + pid + " ended meanwhile", ""};
  return {"process " + pid + " is still " + insertion.step() +
              ", perhaps behind a lock that a stopped thread holds",
          "type `continue`: " + insertion.outlook()};
}

struct Room {
  std::uint64_t gate, code;
};
Result<Room> make_room(lldb::SBProcess& process) {
  const auto gate = allocate(process, kGateBytes, "rw-");
  if (!gate) return tl::unexpected(gate.error());
  const auto code = allocate(process, kCodeBytes, "r-x");
  if (!code) return tl::unexpected(code.error());
  return Room{*gate, *code};
}

// False: it cannot be; the thread is as it was.
bool borrow(lldb::SBProcess& process, Borrowed& borrowed, Insertion& insertion, const Room& room) {
  const Stopped& was = borrowed.stopped;
  insertion.place(room.gate, room.code, was.rsp(), borrowed.resume.rip, borrowed.stays);
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
    char why[64] = "";
    thread.GetStopDescription(why, sizeof why);
    if (is_new) texts.push_back("#" + std::to_string(thread.GetIndexID()) + " (" + why + ")");
  }
  return texts;
}

using Prepare = std::function<Result<Insertion>(pid_t pid)>;

Result<AttachResult> insert(lldb::SBProcess& process, const Prepare& prepare) {
  const auto start = Clock::now();
  const auto pid = static_cast<pid_t>(process.GetProcessID());
  if (const int fatal = fatal_signal(process); fatal != 0)
    return fault("it is about to be ended by a signal (SIG" + name_of(fatal) + ")",
                 "enable the collector before that, or `run` it again");
  const std::vector<lldb::SBThread> placed = placed_threads(process);
  auto insertion = prepare(pid);
  if (!insertion) return tl::unexpected(insertion.error());
  if (auto fits = check_filters_of_held(pid, insertion->hands()); !fits)
    return tl::unexpected(fits.error());
  const auto room = make_room(process);
  if (!room) return tl::unexpected(room.error());
  const auto give_up = [&](const Fault& why) {
    process.DeallocateMemory(room->gate);
    process.DeallocateMemory(room->code);
    return tl::unexpected(why);
  };
  auto chosen = choose_thread(process);
  if (!chosen) return give_up(chosen.error());
  Borrowed& borrowed = chosen->borrowed;
  borrowed.flags = flags_of(borrowed.thread);
  if (!borrow(process, borrowed, *insertion, *room))
    return give_up({"LLDB cannot write to process " + std::to_string(pid), ""});
  const auto free = chosen->free + run(process, *chosen, *insertion);
  bring_back(process, borrowed, *insertion);
  if (insertion->progress() != Insertion::Progress::done)
    return tl::unexpected(late(process, *insertion));
  repair_interrupted_waits(process);
  auto result = insertion->result();
  give_back(process, *insertion, room->gate, room->code);
  if (result) {
    result->held_ms =
        std::chrono::duration<double, std::milli>(Clock::now() - start - free).count();
    result->moved = chosen->moved;
    result->arrived = arrived(process, placed);
  }
  return result;
}

Result<AttachResult> insert(lldb::SBDebugger& debugger, lldb::SBProcess& process,
                            const Prepare& prepare) {
  if (process.GetState() != lldb::eStateStopped)
    return fault("process " + std::to_string(process.GetProcessID()) + " is not stopped",
                 "stop it with Ctrl-C or `process interrupt`, and repeat");
  if (!let_sigprof_pass(debugger))
    return fault("LLDB does not let SIGPROF pass", "see `help process handle`");
  const AsIs view(debugger, process);
  const QuietLoader loader(process.GetTarget());
  const QuietStopHooks hooks(debugger);
  return insert(process, prepare);
}

}  // namespace

Result<AttachResult> attach_by_lldb(lldb::SBDebugger debugger, lldb::SBProcess process,
                                    const Settings& settings) {
  return insert(debugger, process, [&](pid_t pid) { return Insertion::prepare(pid, settings); });
}

Result<AttachResult> release_by_lldb(lldb::SBDebugger debugger, lldb::SBProcess process,
                                     std::uint64_t session) {
  return insert(debugger, process,
                [&](pid_t pid) { return Insertion::prepare_release(pid, session); });
}

}  // namespace gnomon::injector
