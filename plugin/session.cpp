// A debugger's session: what reports are about. LLDB's command thread.
#include "plugin/session.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

#include "commands/host/experiment_finder.h"
#include "commands/print/terminal.h"
#include "injector/base/sampler.h"
#include "injector/lldb/lldb_commands.h"
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

// Where nothing tells which process is meant: the newest of the selected target's program, or of
// any if there is no other target.
std::string Session::newest_experiment() {
  lldb::SBTarget target = debugger_.GetSelectedTarget();
  const bool is_only = debugger_.GetNumTargets() <= 1;
  return commands::find_experiment(
      stems_, {session_, 0, is_only ? "" : injector::real_path(target.GetExecutable())});
}

// What was said of a launch holds only as long as nothing else has recorded the process.
Result<std::string> Session::experiment() {
  lldb::SBProcess process = debugger_.GetSelectedTarget().GetProcess();
  recorded_by_others(process);
  if (const auto found = recording_of(process)) injector::record_rings(*found->page);
  if (others_pid_ != 0 && others_pid_ == process.GetProcessID() && !is_recorded(process))
    return others_.experiment;
  if (session_ == 0)
    return fault("nothing was recorded in this session",
                 "type `collector enable` and `run`, or name an experiment");
  const lldb::pid_t pid = process.IsValid() ? process.GetProcessID() : 0;
  if (pid == 0 || pid == LLDB_INVALID_PROCESS_ID) {
    std::string newest = newest_experiment();
    if (!newest.empty()) return newest;
    return fault("nothing was recorded yet of the selected target", "type `run`");
  }
  std::string found = commands::find_experiment(stems_, {session_, pid});
  if (!found.empty()) return found;
  const bool alive = is_alive(process);
  const std::string number = std::to_string(pid);
  if (process.GetCoreFile().IsValid())
    return fault("process " + number + ", of which a core file is shown, was not recorded",
                 "type `run` to record another run, or name an experiment");
  if (const auto why = launch_ ? launch_->verdict(process) : std::nullopt)
    return fault("process " + number + (alive ? " is" : " was") + " not recorded: " + why->what,
                 why->next);
  if (alive) return fault("process " + number + " is not recorded", "type `collector enable`");
  found = newest_experiment();
  if (!found.empty()) return found;
  if (!launch_ || launch_->target() != debugger_.GetSelectedTarget())
    return fault("process " + number + " was not recorded: the runs of its target are not",
                 "type `collector enable` and `run` to record another run");
  return fault("process " + number + " left no experiment " + stems_.front() + ".N.er",
               "type `run` to record another run");
}

// Reports on the process that LLDB shows need not say so.
bool Session::is_obvious(const reader::Experiment& experiment) {
  lldb::SBProcess process = debugger_.GetSelectedTarget().GetProcess();
  const bool is_other = process.IsValid() && process.GetProcessID() != 0 &&
                        process.GetProcessID() != experiment.header.pid;
  return debugger_.GetNumTargets() <= 1 && !is_other;
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

// The setting target.source-map: a list of pairs.
std::vector<std::pair<std::string, std::string>> Session::source_maps() {
  const auto text_of = [](lldb::SBStructuredData pair, std::size_t number) {
    char text[4096] = "";
    pair.GetItemAtIndex(number).GetStringValue(text, sizeof text);
    return std::string(text);
  };
  std::vector<std::pair<std::string, std::string>> maps;
  lldb::SBStructuredData pairs = debugger_.GetSetting("target.source-map");
  for (std::size_t i = 0; i < pairs.GetSize(); ++i) {
    lldb::SBStructuredData pair = pairs.GetItemAtIndex(i);
    maps.emplace_back(text_of(pair, 0), text_of(pair, 1));
  }
  return maps;
}

Result<reader::Disassembler*> Session::disassembler() {
  // SBDebugger::GetSetting gives nothing of an enumeration.
  const lldb::SBStringList flavor = lldb::SBDebugger::GetInternalVariableValue(
      "target.x86-disassembly-flavor", debugger_.GetInstanceName());
  const char* const name = flavor.GetSize() != 0 ? flavor.GetStringAtIndex(0) : nullptr;
  return &disassembler_.emplace(name ? name : "default");
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
  const bool is_paused = settings_.values[format::Setting::paused] != 0;
  return (is_paused ? "enabled; every run begins paused and writes an experiment, "
                    : "enabled; every run writes an experiment, ") +
         names_;
}

}  // namespace gnomon::plugin
