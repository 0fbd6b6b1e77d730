// A debugger's session: control of recording. LLDB's command thread.
#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <span>
#include <thread>

#include "commands/host/experiment_finder.h"
#include "injector/attach/by_name.h"
#include "injector/attach/lldb/lldb_attach.h"
#include "injector/attach/ptrace/ptrace_attach.h"
#include "injector/base/counters.h"
#include "injector/base/presence.h"
#include "injector/base/sampler.h"
#include "injector/lldb/lldb_commands.h"
#include "plugin/process.h"
#include "plugin/session.h"
#include "reader/base/clock.h"

namespace gnomon::plugin {
namespace {

namespace fs = std::filesystem;
using format::Setting;

constexpr auto word(format::Ask ask) { return static_cast<std::uint32_t>(ask); }

// Where the plugin lies: libcollector.so is beside it.
Result<std::string> plugin_folder() {
  Dl_info here{};
  std::error_code error;
  if (dladdr(reinterpret_cast<const void*>(&plugin_folder), &here) == 0 || !here.dli_fname)
    return fault("the plugin cannot find out where it was loaded from");
  return fs::canonical(here.dli_fname, error).parent_path().string();
}

std::string already(pid_t pid, const injector::Recording& recording) {
  return fmt::format("Process {} is recorded already, to {}.\n", pid, recording.experiment);
}

// "/work/test.N.er"; the first of them may have another name.
std::string names_of(const injector::Settings& settings) {
  const std::uint64_t first = settings.values[Setting::number];
  const std::string numbered = settings.stem + ".N.er";
  if (first == 0) return fmt::format("{}.er; where it exists, {}", settings.stem, numbered);
  return first == 1 ? numbered : fmt::format("{} from {} on", numbered, first);
}

bool is_for_good(const format::ControlPage& page) {
  return page.pause_reason == static_cast<std::uint32_t>(format::PauseReason::size_limit);
}

tl::unexpected<Fault> size_limit_reached() {
  return fault("the size limit of this recording is reached, and it has no more events",
               "`collector disable`, `collector limit unlimited` and `collector enable` begin "
               "another");
}

// LLDB shows a process that `kill` has ended as stopped until its event thread has taken the event.
// Returns true once LLDB shows the end; a process of another machine takes the whole second.
bool has_ended_in_a_moment(lldb::SBProcess process) {
  using namespace std::chrono_literals;
  const auto deadline = std::chrono::steady_clock::now() + 1s;
  while (is_running_somewhere(process) && std::chrono::steady_clock::now() < deadline)
    std::this_thread::sleep_for(10ms);
  return !is_running_somewhere(process);
}

}  // namespace

Result<injector::Settings> Session::next_recording(const commands::CollectSettings& chosen) const {
  const auto folder = plugin_folder();
  if (!folder) return tl::unexpected(folder.error());
  auto settings = injector::new_settings(
      std::span(&*folder, 1), {chosen.directory, chosen.experiment, chosen.group}, chosen.values);
  if (settings) settings->counters = chosen.counters;
  if (settings && session_ != 0) settings->session = session_;
  return settings;
}

void Session::remember(const injector::Settings& settings) {
  stems_.erase(std::remove(stems_.begin(), stems_.end(), settings.stem), stems_.end());
  stems_.insert(stems_.begin(), settings.stem);
  session_ = settings.session;
  names_ = names_of(settings);
  stops_.watch(debugger_, settings.stem, settings.session);
}

injector::Found Session::our_recording(lldb::SBProcess process) const {
  if (session_ == 0 || !is_alive(process)) return {};
  for (const std::string& stem : stems_)
    if (auto found = injector::find_recording(stem, session_, number_of(process)); found.page)
      return found;
  return {};
}

// What is set at stops alone may be changed at any time.
Result<void> Session::set_settings(const commands::CollectSettings& settings) {
  if (settings.samples_at_stops != settings_.samples_at_stops) {
    settings_.samples_at_stops = settings.samples_at_stops;
    stops_.set_sampling(settings.samples_at_stops);
    return {};
  }
  lldb::SBProcess process = debugger_.GetSelectedTarget().GetProcess();
  if (is_alive(process) && recording_of(process))
    return fault(fmt::format("process {} is being recorded with the settings that it began with",
                             process.GetProcessID()),
                 "`collector disable` ends that; then set this and `collector enable` again");
  const auto wanted = next_recording(settings);
  if (!wanted) return tl::unexpected(wanted.error());
  if (launch_) {
    lldb::SBTarget target = launch_->target();
    launch_->release(debugger_);
    launch_.reset();
    auto launch = injector::Launch::prepare(debugger_, target, *wanted);
    if (!launch)
      return fault(launch.error().what + ", so later runs are not recorded", launch.error().next);
    launch_ = std::move(*launch);
    remember(*wanted);
  }
  settings_ = settings;
  return {};
}

Result<std::string> Session::record(lldb::SBProcess process, const injector::Settings& settings) {
  const auto result = injector::attach_by_lldb(debugger_, process, settings);
  if (result) {
    others_pid_ = 0;
    given_back_ = 0;
  }
  auto text = injector::text_of(result, number_of(process));
  return text ? *text + injector::stops_note(process) : text;
}

// One that LLDB cannot attach to is not recorded either.
Result<std::vector<std::int32_t>> Session::processes_named(const std::string& name) {
  return injector::processes_named(name);
}

Result<std::string> Session::attach(std::int32_t pid) {
  lldb::SBProcess here = debugger_.GetSelectedTarget().GetProcess();
  if (is_alive(here))
    return fault("LLDB has process " + std::to_string(here.GetProcessID()) + " already",
                 "`collector enable` records that; `detach` first to attach to another");
  const auto wanted = next_recording(settings_);
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
  given_back_ = 0;
  if (!recording)
    remember(*wanted);
  else
    stops_.watch(debugger_, recording->stem, recording->session);
  return *text + *attached + injector::stops_note(debugger_.GetSelectedTarget().GetProcess());
}

Result<std::string> Session::enable() {
  lldb::SBTarget target = debugger_.GetSelectedTarget();
  if (!target.IsValid())
    return fault("there is no target to collect from", "choose one with `target create PROGRAM`");
  lldb::SBProcess process = target.GetProcess();
  const bool alive = is_alive(process);
  const bool is_held = process.GetState() == lldb::eStateStopped;
  if (!alive && is_running_somewhere(process) &&
      (is_held || !injector::has_ended(number_of(process))))
    if (const auto local = injector::check_is_local(process);
        !local && !has_ended_in_a_moment(process))
      return fault(
          fmt::format("cannot record process {}: {}", process.GetProcessID(), local.error().what),
          local.error().next);
  const bool later_too = launch_ && launch_->target() == target;
  if (later_too && (!alive || is_recorded(process)))
    return std::string("Already enabled: every run writes an experiment.\n");
  auto wanted = next_recording(settings_);
  if (!wanted) return tl::unexpected(wanted.error());
  const std::string pid = std::to_string(process.GetProcessID());
  std::string text;
  std::optional<Fault> failed;  // the process is not recorded, though later ones will be
  if (is_recorded(process)) {
    text = "Process " + pid + " is recorded already.\n";
  } else if (const auto* others = recorded_by_others(process)) {
    text = already(number_of(process), *others);
  } else if (alive) {
    auto attached = record(process, *wanted);
    if (!attached &&
        (!injector::was_launched(number_of(process)) || injector::is_handling_stop(debugger_)))
      return attached;
    if (attached)
      text = *attached;
    else
      failed = attached.error();
  }
  remember(*wanted);
  if (later_too) return failed ? Result<std::string>(tl::unexpected(*failed)) : text;
  if (launch_) launch_->release(debugger_);
  launch_.reset();
  auto launch = injector::Launch::prepare(debugger_, target, *wanted);
  if (!launch && (!alive || failed)) return tl::unexpected(failed ? *failed : launch.error());
  if (!launch) return text;
  launch_ = std::move(*launch);
  if (failed)
    return fault(failed->what, (failed->next.empty() ? "" : failed->next + "; ") +
                                   "every later run writes an experiment, " + names_);
  if (text.empty() && !launch_->outside().empty())
    return fmt::format(
        "Enabled: every run from now on is recorded from outside, by the kernel's clock, and "
        "writes "
        "an experiment, {}: {}.\n",
        names_, launch_->outside());
  if (text.empty())
    return fmt::format("Enabled: every run from now on writes an experiment, {}.\n", names_);
  return fmt::format(
      "{}Every later run writes one, too: {}.\n`detach` leaves this recording going on; `collector "
      "disable` ends it.\n",
      text, names_);
}

std::optional<std::string> Session::end_recording(lldb::SBProcess process) {
  if (!is_alive(process)) return std::nullopt;
  const pid_t pid = number_of(process);
  for (const std::string& stem : stems_)
    if (session_ != 0 && injector::ask_to_end(stem, session_, pid))
      return "Disabled: process " + std::to_string(pid) + " runs on without being recorded.\n" +
             give_back(process, session_);
  const auto* others = recorded_by_others(process);
  if (others && injector::ask_to_end(others->stem, others->session, pid))
    return "Disabled: process " + std::to_string(pid) + " runs on without being recorded.\n" +
           give_back(process, others->session);
  return end_rest(process);
}

// Once a process: nothing tells afterwards what was given back.
std::optional<std::string> Session::end_rest(lldb::SBProcess process) {
  if (given_back_ == process.GetUniqueID()) return std::nullopt;
  std::uint64_t session = 0;
  if (session_ != 0 &&
      !commands::find_experiment(stems_, {session_, process.GetProcessID()}).empty())
    session = session_;
  else if (const auto others = injector::failed_recording_in(number_of(process)))
    session = others->session;
  if (session == 0) return std::nullopt;
  return fmt::format(
      "Disabled: the recording of process {} was over already; `collector status` says why.\n{}",
      process.GetProcessID(), give_back(process, session));
}

// A process that runs ends its recording itself, and what the collector has of it stays.
std::string Session::give_back(lldb::SBProcess process, std::uint64_t session) {
  if (process.GetState() != lldb::eStateStopped)
    return "It is not stopped: its calls still go through the collector, which forwards them.\n";
  const auto released = injector::release_by_lldb(debugger_, process, session);
  if (released) given_back_ = process.GetUniqueID();
  return injector::release_text(released);
}

Result<std::string> Session::disable() {
  const auto left = end_recording(debugger_.GetSelectedTarget().GetProcess());
  if (!launch_ && !left)
    return fault("the collector is not enabled", "`collector enable` does that");
  if (launch_) launch_->release(debugger_);
  launch_.reset();
  if (settings_.values[format::Setting::pause_signal] == 0)
    settings_.values[format::Setting::paused] = 0;
  if (!has_stop_line_) stops_.forget(debugger_);
  return left ? *left : std::string("Disabled: later runs are not recorded.\n");
}

Result<injector::Found> Session::recording_of(lldb::SBProcess process) {
  injector::Found found = our_recording(process);
  if (!found.page)
    if (const auto* others = recorded_by_others(process))
      found = injector::find_recording(others->stem, others->session, number_of(process));
  if (!found.page)
    return fault("no process is being recorded", is_alive(process)
                                                     ? "type `collector enable`"
                                                     : "type `collector enable` and `run`");
  return found;
}

// Before a process runs, this is a setting of the runs to come.
Result<bool> Session::begin_paused(bool is_wanted) {
  lldb::SBProcess process = debugger_.GetSelectedTarget().GetProcess();
  // LLDB learns late that a process has ended.
  if (!launch_ || (is_running_somewhere(process) && !injector::has_ended(number_of(process))))
    return false;
  commands::CollectSettings settings = settings_;
  settings.values[format::Setting::paused] = is_wanted;
  if (is_wanted && settings.values[format::Setting::delay] != 0)
    return fault("a delay ends the pause that a run begins with",
                 "`collector duration unlimited` first");
  const auto set = set_settings(settings);
  if (!set) return tl::unexpected(set.error());
  return true;
}

// Silent if it is paused already, as dbx is.
Result<std::string> Session::pause() {
  const auto is_later = begin_paused(true);
  if (!is_later) return tl::unexpected(is_later.error());
  if (*is_later) return "Paused: every run begins without events, until `collector resume`.\n";
  const auto found = recording_of(debugger_.GetSelectedTarget().GetProcess());
  if (!found) return tl::unexpected(found.error());
  if (is_for_good(*found->page)) return size_limit_reached();
  const auto paused = injector::pause(found->experiment, *found->page);
  if (!paused) return tl::unexpected(paused.error());
  return *paused ? std::string(
                       "Paused: samples are taken, but no events are recorded until "
                       "`collector resume`.\n")
                 : "";
}

Result<std::string> Session::resume() {
  if (settings_.values[format::Setting::paused] != 0) {
    const auto is_later = begin_paused(false);
    if (!is_later) return tl::unexpected(is_later.error());
    if (*is_later) return "Resumed: every run begins with events.\n";
  }
  const auto found = recording_of(debugger_.GetSelectedTarget().GetProcess());
  if (!found) return tl::unexpected(found.error());
  if (is_for_good(*found->page)) return size_limit_reached();
  const auto resumed = injector::resume(found->experiment, *found->page);
  if (!resumed) return tl::unexpected(resumed.error());
  return *resumed ? std::string("Resumed: events are recorded again.\n") : "";
}

Result<std::string> Session::trace_frees_only() {
  const auto found = recording_of(debugger_.GetSelectedTarget().GetProcess());
  if (!found) return tl::unexpected(found.error());
  const auto records = commands::records_allocations(found->experiment);
  if (!records) return tl::unexpected(records.error());
  if (!*records)
    return fault("allocations are not recorded",
                 "`collector heaptrace on` before the next recording does that");
  std::uint64_t never = 0;
  if (!std::atomic_ref(found->page->frees_only).compare_exchange_strong(never, monotonic_now()))
    return "Allocations are not recorded any more already, only what gives them back.\n";
  return "Allocations are no longer recorded, what gives them back is: `collector leaks` loses "
         "what is freed from here on.\n";
}

Result<std::string> Session::list_counters() {
  const auto folder = plugin_folder();
  return folder ? injector::list_counters(*folder) : folder;
}

Result<std::string> Session::resolve_counters(const std::vector<std::string>& words) {
  const auto folder = plugin_folder();
  return folder ? injector::resolve_counters(*folder, words) : folder;
}

Result<std::string> Session::record_sample(const std::string& label) {
  const auto found = recording_of(debugger_.GetSelectedTarget().GetProcess());
  if (!found) return tl::unexpected(found.error());
  if (!injector::ask_for_sample(*found->page, format::Verb::sample, format::SampleEvent::manual,
                                label))
    return fault("gnomon-sampler does not answer, so no sample was taken",
                 "`collector header` says since when");
  return label.empty() ? std::string("Sample recorded.\n") : "Sample " + label + " recorded.\n";
}

}  // namespace gnomon::plugin
