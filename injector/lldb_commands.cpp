// LLDB's own commands, for what its API does not offer. LLDB's command thread.
#include "injector/lldb_commands.h"

#include <fmt/format.h>

#include <chrono>
#include <sstream>
#include <string_view>
#include <thread>

#include "injector/attach/lldb/lldb_process.h"
#include "injector/attach/remote/remote_process.h"
#include "injector/runtimes.h"

namespace gnomon::injector {
namespace {

// Returns false if a debugger holds the process and is not just leaving it.
bool is_let_go(pid_t pid) {
  constexpr int kLooks = 100;
  for (int i = 0; i < kLooks && status_number(pid, "TracerPid").value_or(0) != 0; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  return status_number(pid, "TracerPid").value_or(0) == 0;
}

}  // namespace

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

QuietStopHooks::QuietStopHooks(lldb::SBDebugger debugger) : debugger_(debugger) {
  lldb::SBCommandReturnObject answer;
  debugger_.GetCommandInterpreter().HandleCommand("target stop-hook list", answer, false);
  std::istringstream list(answer.GetOutput() ? answer.GetOutput() : "");
  std::string number;
  for (std::string line; std::getline(list, line);) {
    constexpr std::string_view kHook = "Hook: ";
    if (line.starts_with(kHook)) number = line.substr(kHook.size());
    if (number.empty() || line.find("State: ") == std::string::npos) continue;
    if (line.ends_with("State: enabled") &&
        quietly(debugger_, "target stop-hook disable " + number))
      disabled_.push_back(number);
    number.clear();
  }
}

QuietStopHooks::~QuietStopHooks() {
  for (const std::string& number : disabled_)
    quietly(debugger_, "target stop-hook enable " + number);
}

}  // namespace gnomon::injector
