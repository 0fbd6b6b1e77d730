// LLDB's own commands, for what its API does not offer. LLDB's command thread.
#include "injector/lldb/lldb_commands.h"

#include <fmt/format.h>
#include <pthread.h>

#include <algorithm>
#include <chrono>
#include <sstream>
#include <string_view>
#include <thread>

#include "injector/attach/remote/remote_process.h"
#include "injector/base/runtimes.h"
#include "injector/lldb/lldb_process.h"

namespace gnomon::injector {
namespace {

// Returns false if a debugger holds the process and is not just leaving it.
bool is_let_go(pid_t pid) {
  constexpr int kLooks = 100;
  for (int i = 0; i < kLooks && status_number(pid, "TracerPid").value_or(0) != 0; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  return status_number(pid, "TracerPid").value_or(0) == 0;
}

bool is_collector_command(std::string_view line) {
  line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
  const std::string_view word = line.substr(0, line.find(' '));
  return word.size() >= 3 && std::string_view("collector").starts_with(word) && line != kNoteStop;
}

bool has_collector_command(lldb::SBBreakpoint breakpoint) {
  lldb::SBStringList lines;
  breakpoint.GetCommandLineCommands(lines);
  for (std::uint32_t i = 0; i < lines.GetSize(); ++i)
    if (is_collector_command(lines.GetStringAtIndex(i))) return true;
  return false;
}

// Stop reasons of a breakpoint: its number and that of its location, for each.
bool stands_at_collector_command(lldb::SBTarget target, lldb::SBThread thread) {
  if (thread.GetStopReason() != lldb::eStopReasonBreakpoint) return false;
  for (std::size_t i = 0; i < thread.GetStopReasonDataCount(); i += 2) {
    const auto number = static_cast<lldb::break_id_t>(
        thread.GetStopReasonDataAtIndex(static_cast<std::uint32_t>(i)));
    if (has_collector_command(target.FindBreakpointByID(number))) return true;
  }
  return false;
}

// The thread on which LLDB's driver handles a stop while another one reads the terminal.
bool is_event_thread() {
  char name[16] = "";
  return pthread_getname_np(pthread_self(), name, sizeof name) == 0 &&
         std::string_view(name) == "dbg.evt-handler";
}

}  // namespace

// LLDB is in its asynchronous mode while it handles a stop, also in a session that is not.
bool is_handling_stop(lldb::SBDebugger debugger) {
  if (is_event_thread()) return true;
  if (!debugger.GetAsync() || debugger.GetCommandInterpreter().IsInteractive()) return false;
  for (const StopHook& hook : stop_hooks(debugger))
    if (hook.is_enabled && std::any_of(hook.lines.begin(), hook.lines.end(), is_collector_command))
      return true;
  lldb::SBTarget target = debugger.GetSelectedTarget();
  lldb::SBProcess process = target.GetProcess();
  for (std::uint32_t i = 0; i < process.GetNumThreads(); ++i)
    if (stands_at_collector_command(target, process.GetThreadAtIndex(i))) return true;
  return false;
}

bool quietly(lldb::SBDebugger& debugger, const std::string& command, std::string* error) {
  lldb::SBCommandReturnObject answer;
  debugger.GetCommandInterpreter().HandleCommand(command.c_str(), answer, false);
  if (error && answer.GetError()) *error = answer.GetError();
  return answer.Succeeded();
}

// LLDB's attach fails if a thread of the process ends just then: the kernel answers EPERM.
Result<std::string> attach_debugger(lldb::SBDebugger& debugger, pid_t pid) {
  constexpr int kAttempts = 5;
  const std::string command = "process attach --pid " + std::to_string(pid);
  std::string why;
  for (int i = 0; i < kAttempts; ++i) {
    lldb::SBCommandReturnObject answer;
    debugger.GetCommandInterpreter().HandleCommand(command.c_str(), answer, false);
    if (answer.Succeeded()) {
      lldb::SBProcess process = debugger.GetSelectedTarget().GetProcess();
      repair_interrupted_waits(process);
      return std::string(answer.GetOutput() ? answer.GetOutput() : "");
    }
    if (const char state = state_of(pid, pid); state == '\0' || state == 'Z')
      return fault("process " + std::to_string(pid) + " ended meanwhile");
    why = answer.GetError() ? answer.GetError() : "";
    if (!is_let_go(pid)) break;
  }
  while (!why.empty() && (why.back() == '\n' || why.back() == '.')) why.pop_back();
  return fault("LLDB cannot attach to process " + std::to_string(pid) + ": " + why,
               "`gnomon collect -P` needs no LLDB");
}

bool let_sigprof_pass(lldb::SBDebugger& debugger) {
  return quietly(debugger, "process handle SIGPROF --stop false --notify false --pass true");
}

std::string stops_note(lldb::SBProcess process) {
  const Runtime* runtime = runtime_in(static_cast<pid_t>(process.GetProcessID()));
  if (!runtime || !process.GetUnixSignals().GetShouldStop(runtime->signal)) return "";
  return fmt::format(
      "LLDB stops at every {0}, which {1} uses internally: `process handle {0} -s false -n false` "
      "lets "
      "them pass.\n",
      runtime->signal_name, runtime->name);
}

std::vector<StopHook> stop_hooks(lldb::SBDebugger debugger) {
  constexpr std::string_view kHook = "Hook: ";
  lldb::SBCommandReturnObject answer;
  debugger.GetCommandInterpreter().HandleCommand("target stop-hook list", answer, false);
  std::istringstream list(answer.GetOutput() ? answer.GetOutput() : "");
  std::vector<StopHook> hooks;
  for (std::string line; std::getline(list, line);) {
    line.erase(0, line.find_first_not_of(' '));
    if (line.starts_with(kHook))
      hooks.push_back({line.substr(kHook.size()), false, {}});
    else if (!hooks.empty() && line == "State: enabled")
      hooks.back().is_enabled = true;
    else if (!hooks.empty() && !line.empty())
      hooks.back().lines.push_back(line);
  }
  return hooks;
}

QuietStopHooks::QuietStopHooks(lldb::SBDebugger debugger) : debugger_(debugger) {
  for (const StopHook& hook : stop_hooks(debugger_))
    if (hook.is_enabled && quietly(debugger_, "target stop-hook disable " + hook.number))
      disabled_.push_back(hook.number);
}

QuietStopHooks::~QuietStopHooks() {
  for (const std::string& number : disabled_)
    quietly(debugger_, "target stop-hook enable " + number);
}

}  // namespace gnomon::injector
