// A debugger's session: the place where the process has stopped. LLDB's command thread;
// `note_stop`: the thread that handles the debugger's events.
#include <fmt/format.h>

#include <string>

#include "injector/base/presence.h"
#include "plugin/process.h"
#include "plugin/session.h"
#include "reader/base/one_line.h"

namespace gnomon::plugin {
namespace {

// LLDB's commands that let a process run on.
constexpr const char* kRunOn[] = {
    "process continue", "thread continue",       "thread step-in",
    "thread step-over", "thread step-out",       "thread step-inst",
    "thread until",     "thread step-inst-over", "thread step-scripted",
};

std::string string_of(const char* text) { return text ? text : ""; }

std::string place_of(lldb::SBFrame frame) {
  const lldb::SBLineEntry line = frame.GetLineEntry();
  if (line.IsValid() && line.GetLine() != 0)
    return fmt::format("{}:{}", string_of(line.GetFileSpec().GetFilename()), line.GetLine());
  return string_of(frame.GetModule().GetFileSpec().GetFilename());
}

std::string file_of(lldb::SBFileSpec file) {
  char path[4096] = "";
  file.GetPath(path, sizeof path);
  return path;
}

}  // namespace

Result<reader::Backtrace> Session::backtrace() {
  lldb::SBProcess process = debugger_.GetSelectedTarget().GetProcess();
  if (process.GetState() != lldb::eStateStopped)
    return fault("no process is stopped here", "`process interrupt` stops it");
  lldb::SBThread thread = process.GetSelectedThread();
  const std::uint32_t selected = thread.GetSelectedFrame().GetFrameID();
  reader::Backtrace frames;
  for (std::uint32_t i = 0; i < thread.GetNumFrames(); ++i) {
    lldb::SBFrame frame = thread.GetFrameAtIndex(i);
    frames.push_back({frame.GetPC(), frame.IsInlined(), i == selected,
                      string_of(frame.GetDisplayFunctionName()), place_of(frame)});
    if (frames.back().name.empty()) frames.back().name = fmt::format("{:#x}", frame.GetPC());
  }
  if (frames.empty()) return fault("the selected thread has no call stack");
  return frames;
}

// Runs nothing of the program's.
Result<std::uint64_t> Session::address_of(const std::string& expression) {
  if (auto number = Host::address_of(expression)) return number;
  lldb::SBFrame frame =
      debugger_.GetSelectedTarget().GetProcess().GetSelectedThread().GetSelectedFrame();
  if (!frame.IsValid())
    return fault(fmt::format("{} is not a number, and no frame is selected to evaluate it in",
                             one_line(expression)),
                 "give the address as a number such as 0x7f00");
  lldb::SBExpressionOptions options;
  options.SetAllowJIT(false);
  options.SetIgnoreBreakpoints(true);
  options.SetTimeoutInMicroSeconds(1'000'000);
  lldb::SBValue value = frame.EvaluateExpression(expression.c_str(), options);
  lldb::SBError error = value.GetError();
  lldb::SBType type = value.GetType();
  const std::uint64_t address = type.IsAggregateType() || type.IsArrayType()
                                    ? value.GetLoadAddress()
                                    : value.GetValueAsUnsigned(error, 0);
  if (error.Success() && address != 0 && address != LLDB_INVALID_ADDRESS) return address;
  return fault(fmt::format("{} is no address here{}", one_line(expression),
                           error.GetCString() ? fmt::format(" ({})", one_line(error.GetCString()))
                                              : std::string()),
               "name a pointer of the selected frame, or give a number such as 0x7f00");
}

Result<std::string> Session::set_breakpoint(const reader::Function& function) {
  lldb::SBTarget target = debugger_.GetSelectedTarget();
  lldb::SBBreakpoint breakpoint;
  for (std::uint32_t i = 0; i < target.GetNumModules() && !breakpoint.IsValid(); ++i) {
    lldb::SBModule module = target.GetModuleAtIndex(i);
    if (file_of(module.GetFileSpec()) != function.object) continue;
    // By name LLDB finds the end of the function's prologue.
    lldb::SBFileSpecList modules, files;
    modules.Append(module.GetFileSpec());
    if (!function.symbol.empty())
      breakpoint = target.BreakpointCreateByName(function.symbol.c_str(),
                                                 lldb::eFunctionNameTypeFull, modules, files);
    if (breakpoint.GetNumLocations() != 0) continue;
    if (breakpoint.IsValid()) target.BreakpointDelete(breakpoint.GetID());
    lldb::SBAddress address = module.ResolveFileAddress(function.address);
    breakpoint = target.BreakpointCreateBySBAddress(address);
  }
  if (!breakpoint.IsValid())
    return fault(fmt::format("the selected target has no {}", function.object),
                 "select the target that was recorded");
  const lldb::SBLineEntry line = breakpoint.GetLocationAtIndex(0).GetAddress().GetLineEntry();
  return fmt::format(
      "Breakpoint {} at {}{}.\n", breakpoint.GetID(), one_line(function.name),
      line.IsValid()
          ? fmt::format(", {}:{}", string_of(line.GetFileSpec().GetFilename()), line.GetLine())
          : "");
}

// LLDB calls the process of the selected target back to life behind this.
bool Session::hear_command(void* session, const char**) {
  Session& self = *static_cast<Session*>(session);
  lldb::SBProcess process = self.debugger_.GetSelectedTarget().GetProcess();
  if (self.has_stop_line_ && process.GetState() == lldb::eStateStopped && is_alive(process))
    self.stop_line_.resumed(number_of(process));
  return false;
}

Result<void> Session::set_stop_line(bool is_on) {
  has_stop_line_ = is_on;
  if (!is_on) return {};
  injector::Stops::add_hook(debugger_);
  lldb::SBCommandInterpreter interpreter = debugger_.GetCommandInterpreter();
  for (const char* command : kRunOn)
    if (!hears_commands_) interpreter.SetCommandOverrideCallback(command, hear_command, this);
  hears_commands_ = true;
  return {};
}

Result<std::string> Session::note_stop() {
  lldb::SBProcess process = debugger_.GetSelectedTarget().GetProcess();
  const auto noted = stops_.note(process);
  if (!noted) return tl::unexpected(noted.error());
  if (!*noted || !has_stop_line_) return std::string();
  const pid_t pid = number_of(process);
  return stop_line_.stopped(pid, static_cast<pid_t>(process.GetSelectedThread().GetThreadID()),
                            **noted, injector::was_launched(pid));
}

}  // namespace gnomon::plugin
