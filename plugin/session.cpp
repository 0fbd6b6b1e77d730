// A debugger's session: is collecting armed, and where is the experiment. LLDB's command thread.
#include "plugin/session.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <span>

#include "commands/experiment_finder.h"
#include "commands/terminal.h"
#include "injector/attach/lldb/lldb_attach.h"
#include "injector/attach/ptrace/ptrace_attach.h"
#include "injector/lldb_commands.h"
#include "injector/presence.h"
#include "injector/sampler.h"

namespace gnomon::plugin {
namespace {

namespace fs = std::filesystem;

// Where the plugin lies: libcollector.so is beside it.
Result<std::string> plugin_folder() {
  Dl_info here{};
  std::error_code error;
  if (dladdr(reinterpret_cast<const void*>(&plugin_folder), &here) == 0 || !here.dli_fname)
    return fault("the plugin cannot find out where it was loaded from");
  return fs::canonical(here.dli_fname, error).parent_path().string();
}

bool is_alive(lldb::SBProcess process) {
  switch (process.GetState()) {
    case lldb::eStateInvalid:
    case lldb::eStateUnloaded:
    case lldb::eStateExited:
    case lldb::eStateDetached:
      return false;
    default:
      return process.IsValid();
  }
}

std::string already(pid_t pid, const injector::Recording& recording) {
  return fmt::format("Process {} is recorded already, to {}.\n", pid, recording.experiment);
}

pid_t number_of(lldb::SBProcess process) { return static_cast<pid_t>(process.GetProcessID()); }

}  // namespace

bool Session::is_recorded(lldb::SBProcess process) const {
  return session_ != 0 && injector::is_recording(stem_, session_, number_of(process));
}

const injector::Recording* Session::recorded_by_others(lldb::SBProcess process) {
  if (!is_alive(process) || is_recorded(process)) return nullptr;
  auto recording = injector::recording_in(number_of(process));
  if (!recording) return nullptr;
  injector::let_sigprof_pass(debugger_);
  others_ = std::move(*recording);
  others_pid_ = process.GetProcessID();
  return &others_;
}

// Where experiments go and what writes them; a fault: nothing can be recorded from here.
Result<injector::Settings> Session::settings() const {
  const auto folder = plugin_folder();
  if (!folder) return tl::unexpected(folder.error());
  auto settings = injector::new_settings(std::span(&*folder, 1), ".");
  if (!settings || session_ == 0) return settings;
  settings->stem = stem_;
  settings->session = session_;
  return settings;
}

Result<std::string> Session::record(lldb::SBProcess process, const injector::Settings& settings) {
  const auto result = injector::attach_by_lldb(debugger_, process, settings);
  if (result) others_pid_ = 0;
  auto text = injector::text_of(result, number_of(process));
  return text ? *text + injector::stops_note(process) : text;
}

// One that LLDB cannot attach to is not recorded either.
Result<std::string> Session::attach(std::int32_t pid) {
  lldb::SBProcess here = debugger_.GetSelectedTarget().GetProcess();
  if (is_alive(here))
    return fault("LLDB has process " + std::to_string(here.GetProcessID()) + " already",
                 "`collector enable` records that; `detach` first to attach to another");
  const auto wanted = settings();
  if (!wanted) return tl::unexpected(wanted.error());
  const auto recording = injector::recording_in(pid);
  auto text = recording ? already(pid, *recording)
                        : injector::text_of(injector::attach_by_ptrace(pid, *wanted), pid);
  if (!text) return text;
  injector::let_sigprof_pass(debugger_);
  const auto attached = injector::attach_debugger(debugger_, pid);
  if (!attached && !recording) {
    injector::ask_to_end(wanted->stem, wanted->session, pid);
    const auto& [what, next] = attached.error();
    return fault(what, next.empty() ? "" : "its recording has ended; " + next);
  }
  if (!attached) return tl::unexpected(attached.error());
  injector::let_sigprof_pass(debugger_);  // of the target that this has made
  if (!recording) {
    stem_ = wanted->stem;
    session_ = wanted->session;
  }
  stops_.watch(debugger_, stem_, session_);
  return *text + *attached + injector::stops_note(debugger_.GetSelectedTarget().GetProcess());
}

Result<std::string> Session::enable() {
  lldb::SBTarget target = debugger_.GetSelectedTarget();
  if (!target.IsValid())
    return fault("there is no target to collect from", "choose one with `target create PROGRAM`");
  lldb::SBProcess process = target.GetProcess();
  const bool alive = is_alive(process);
  const bool later_too = launch_ && launch_->target() == target;
  if (later_too && (!alive || is_recorded(process)))
    return std::string("Already enabled: every run writes an experiment.\n");
  auto wanted = settings();
  if (!wanted) return tl::unexpected(wanted.error());
  const std::string pid = std::to_string(process.GetProcessID());
  std::string text;
  if (is_recorded(process)) {
    text = "Process " + pid + " is recorded already.\n";
  } else if (const auto* others = recorded_by_others(process)) {
    text = already(number_of(process), *others);
  } else if (alive) {
    auto attached = record(process, *wanted);
    if (!attached && !injector::was_launched(number_of(process))) return attached;
    text = attached ? *attached : sentence(attached.error()) + "\n";
  }
  stem_ = wanted->stem;
  session_ = wanted->session;
  stops_.watch(debugger_, stem_, session_);
  if (later_too) return text;
  if (launch_) launch_->release(debugger_);
  launch_.reset();
  auto launch = injector::Launch::prepare(debugger_, target, *wanted);
  if (!launch && !alive) return tl::unexpected(launch.error());
  if (!launch) return text;
  launch_ = std::move(*launch);
  return text +
         (text.empty() ? "Enabled: every run from now on writes an experiment, "
                       : "Every later run writes one, too: ") +
         stem_ + ".N.er.\n";
}

std::optional<std::string> Session::end_recording(lldb::SBProcess process) {
  if (!is_alive(process)) return std::nullopt;
  const pid_t pid = number_of(process);
  if (session_ != 0 && injector::ask_to_end(stem_, session_, pid))
    return give_back(process, session_);
  const auto* others = recorded_by_others(process);
  if (!others || !injector::ask_to_end(others->stem, others->session, pid)) return std::nullopt;
  return give_back(process, others->session);
}

// A process that runs ends its recording itself, and what the collector has of it stays.
std::string Session::give_back(lldb::SBProcess process, std::uint64_t session) {
  if (process.GetState() != lldb::eStateStopped)
    return "It is not stopped: its calls still go through the collector, which forwards them.\n";
  return injector::release_text(injector::release_by_lldb(debugger_, process, session));
}

Result<std::string> Session::disable() {
  lldb::SBProcess process = debugger_.GetSelectedTarget().GetProcess();
  const std::string pid = std::to_string(process.GetProcessID());
  const auto left = end_recording(process);
  if (!launch_ && !left)
    return fault("the collector is not enabled", "`collector enable` does that");
  if (launch_) launch_->release(debugger_);
  launch_.reset();
  stops_.forget(debugger_);
  return left ? "Disabled: process " + pid + " runs on without being recorded.\n" + *left
              : std::string("Disabled: later runs are not recorded.\n");
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
      commands::find_experiment(stem_, session_, alive ? process.GetProcessID() : 0);
  if (!found.empty()) return found;
  if (!alive && (!process.IsValid() || process.GetProcessID() == 0))
    return fault("nothing was recorded yet", "type `run`");
  if (!alive && launch_)
    return fault("process " + std::to_string(process.GetProcessID()) + " left no experiment " +
                     stem_ + ".N.er",
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

reader::Progress Session::progress(const reader::Experiment& experiment) {
  lldb::SBProcess process = debugger_.GetSelectedTarget().GetProcess();
  if (is_alive(process) && process.GetProcessID() == experiment.header.pid &&
      process.GetState() == lldb::eStateStopped && reader::is_recording(experiment))
    return reader::Progress::stopped;
  return reader::progress_of(experiment);
}

injector::Found Session::recording_of(lldb::SBProcess process) {
  if (!is_alive(process)) return {};
  if (const auto* others = recorded_by_others(process))
    return injector::find_recording(others->stem, others->session, number_of(process));
  return session_ == 0 ? injector::Found{}
                       : injector::find_recording(stem_, session_, number_of(process));
}

Result<std::string> Session::record_sample(const std::string& label) {
  const injector::Found found = recording_of(debugger_.GetSelectedTarget().GetProcess());
  if (!found.page)
    return fault("no process is being recorded", "type `collector enable` and `run`");
  if (!injector::ask_for_sample(*found.page, format::Verb::sample, format::SampleEvent::manual,
                                label))
    return fault("gnomon-sampler does not answer, so no sample was taken",
                 "`collector header` says since when");
  return label.empty() ? std::string("Sample recorded.\n") : "Sample " + label + " recorded.\n";
}

Result<std::string> Session::set_sampling_at_stops(bool is_on) {
  stops_.set_sampling(is_on);
  return std::string(is_on ? "A sample is taken at each stop.\n"
                           : "No sample is taken at stops; stops are noted all the same.\n");
}

void Session::note_stop() { stops_.note(debugger_.GetSelectedTarget().GetProcess()); }

std::string Session::state() {
  lldb::SBProcess process = debugger_.GetSelectedTarget().GetProcess();
  if (!launch_ && (is_recorded(process) || recorded_by_others(process)))
    return "enabled for this process, also after `detach`; `collector enable` records later runs, "
           "too";
  if (!launch_) return "disabled; `collector enable` records later runs";
  return "enabled; every run writes an experiment, " + stem_ + ".N.er";
}

}  // namespace gnomon::plugin
