// A debugger's session: what reports are about. LLDB's command thread.
#include "plugin/session.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

#include "commands/experiment_finder.h"
#include "commands/terminal.h"
#include "injector/lldb_commands.h"
#include "plugin/process.h"

namespace gnomon::plugin {
const injector::Recording* Session::recorded_by_others(lldb::SBProcess process) {
  if (!is_alive(process) || is_recorded(process)) return nullptr;
  auto recording = injector::recording_in(number_of(process));
  if (!recording) return nullptr;
  injector::let_sigprof_pass(debugger_);
  others_ = std::move(*recording);
  others_pid_ = process.GetProcessID();
  return &others_;
}

Result<std::string> Session::experiment() {
  lldb::SBProcess process = debugger_.GetSelectedTarget().GetProcess();
  recorded_by_others(process);
  if (others_pid_ != 0 && others_pid_ == process.GetProcessID() && !is_recorded(process))
    return others_.experiment;
  if (session_ == 0)
    return fault("nothing was recorded in this session",
                 "type `collector enable` and `run`, or name an experiment");
  const bool alive = is_alive(process);
  if (const auto why = launch_ ? launch_->verdict(process) : std::nullopt)
    return fault("process " + std::to_string(process.GetProcessID()) + (alive ? " is" : " was") +
                     " not recorded: " + why->what,
                 why->next);
  std::string found =
      commands::find_experiment(stems_, session_, alive ? process.GetProcessID() : 0);
  if (!found.empty()) return found;
  if (!alive && (!process.IsValid() || process.GetProcessID() == 0))
    return fault("nothing was recorded yet", "type `run`");
  if (!alive && launch_)
    return fault("process " + std::to_string(process.GetProcessID()) + " left no experiment " +
                     stems_.front() + ".N.er",
                 "see whether that file system is full, and whether the program is static");
  return fault("process " + std::to_string(process.GetProcessID()) + " is not recorded",
               launch_ ? "type `run` to start it again; a static program cannot be recorded"
                       : "type `collector enable` and `run`");
}

// By the symbol: what is inlined into it has no samples of its own.
Result<std::string> Session::function() {
  lldb::SBFrame frame =
      debugger_.GetSelectedTarget().GetProcess().GetSelectedThread().GetSelectedFrame();
  const char* name = frame.GetSymbol().GetMangledName();
  if (!name) name = frame.GetSymbol().GetName();
  if (name) return std::string(name);
  return fault("no frame with a function is selected", "name a function");
}

// LLDB's output may be a pipe to an IDE.
reader::TextStyle Session::style() const {
  lldb::SBDebugger debugger = debugger_;
  FILE* output = debugger.GetOutputFileHandle();
  if (!output || !isatty(fileno(output))) return {};
  reader::TextStyle style = commands::terminal_style(fileno(output));
  style.width = debugger.GetTerminalWidth();
  style.has_color = style.has_color && debugger.GetUseColor();
  return style;
}

// Ctrl-C while a command runs.
Interrupt Session::interrupt() const {
  return Interrupt([debugger = debugger_]() mutable { return debugger.InterruptRequested(); });
}

// What LLDB has found by its own settings, and what `target symbols add` has given it.
reader::DebugFiles Session::debug_files() {
  const auto path_of = [](lldb::SBFileSpec file) {
    char path[4096] = "";
    file.GetPath(path, sizeof path);
    return std::string(path);
  };
  reader::DebugFiles files;
  lldb::SBTarget target = debugger_.GetSelectedTarget();
  for (std::uint32_t i = 0; i < target.GetNumModules(); ++i) {
    lldb::SBModule module = target.GetModuleAtIndex(i);
    const std::string object = path_of(module.GetFileSpec());
    const std::string symbols = path_of(module.GetSymbolFileSpec());
    if (!symbols.empty() && symbols != object) files[object] = symbols;
  }
  return files;
}

reader::Progress Session::progress(const reader::Experiment& experiment) {
  lldb::SBProcess process = debugger_.GetSelectedTarget().GetProcess();
  if (is_alive(process) && process.GetProcessID() == experiment.header.pid &&
      process.GetState() == lldb::eStateStopped && reader::is_recording(experiment))
    return reader::Progress::stopped;
  return reader::progress_of(experiment);
}

std::string Session::state() {
  lldb::SBProcess process = debugger_.GetSelectedTarget().GetProcess();
  if (!launch_ && (is_recorded(process) || recorded_by_others(process)))
    return "enabled for this process, also after `detach`; `collector enable` records later runs, "
           "too";
  if (!launch_) return "disabled; `collector enable` records later runs";
  return "enabled; every run writes an experiment, " + names_;
}

}  // namespace gnomon::plugin
