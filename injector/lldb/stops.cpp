// Notes each stop of a recorded program that LLDB's user sees. LLDB's command thread, and the
// thread that handles a debugger's events.
#include "injector/lldb/stops.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <vector>

#include "injector/base/log.h"
#include "injector/base/sampler.h"
#include "injector/lldb/lldb_commands.h"
#include "injector/lldb/lldb_local.h"
#include "libcollector/format/names.h"
#include "reader/base/clock.h"

namespace gnomon::injector {
namespace {

std::string reason_of(lldb::SBThread thread) {
  char text[format::kLabelBytes] = "";
  if (thread.GetStopReason() != lldb::eStopReasonNone) thread.GetStopDescription(text, sizeof text);
  return text;
}

// Numbers of the hooks of the selected target that note stops.
std::vector<std::string> our_hooks(lldb::SBDebugger debugger) {
  std::vector<std::string> numbers;
  for (const StopHook& hook : stop_hooks(debugger))
    if (std::find(hook.lines.begin(), hook.lines.end(), kNoteStop) != hook.lines.end())
      numbers.push_back(hook.number);
  return numbers;
}

// LLDB would be ended if it touched a page behind the end of its file.
bool is_cut(const Found& found) {
  struct stat info {};
  return found.page && stat((found.experiment + "/" + format::kControlFile).c_str(), &info) == 0 &&
         info.st_size < static_cast<off_t>(format::kControlBytes);
}

}  // namespace

void Stops::watch(lldb::SBDebugger debugger, const std::string& stem, std::uint64_t session) {
  {
    const std::lock_guard lock(mutex_);
    stem_ = stem;
    session_ = session;
    found_ = {};
    found_pid_ = 0;
  }
  add_hook(debugger);
}

void Stops::add_hook(lldb::SBDebugger debugger) {
  if (our_hooks(debugger).empty())
    quietly(debugger, fmt::format("target stop-hook add -o '{}'", kNoteStop));
}

void Stops::forget(lldb::SBDebugger debugger) {
  for (const std::string& number : our_hooks(debugger))
    quietly(debugger, "target stop-hook delete " + number);
}

void Stops::set_sampling(bool is_on) {
  const std::lock_guard lock(mutex_);
  is_sampling_ = is_on;
}

format::ControlPage* Stops::page_of(pid_t pid) {
  if (is_cut(found_)) found_ = {};
  if (found_pid_ != pid || !found_.page || !records(*found_.page)) {
    found_ = find_recording(stem_, session_, pid);
    found_pid_ = pid;
    if (!found_.page)
      if (const auto others = recording_in(pid))
        found_ = find_recording(others->stem, others->session, pid);
  }
  return found_.page.get();
}

Result<std::optional<std::string>> Stops::note(lldb::SBProcess process) {
  const std::lock_guard lock(mutex_);
  const std::uint32_t number = process.GetUniqueID(), stop = process.GetStopID();
  if (number == process_ && stop == stop_) return std::nullopt;
  process_ = number;
  stop_ = stop;
  time_ = monotonic_now();
  if (is_record(process) || !check_is_local(process)) return std::nullopt;
  format::ControlPage* const page = page_of(static_cast<pid_t>(process.GetProcessID()));
  if (!page) return std::string();
  const std::string reason = reason_of(process.GetSelectedThread());
  const auto written = write_log(found_.experiment, *page, format::kLogStop, reason);
  if (is_sampling_)
    ask_for_sample(*page, format::Verb::sample, format::SampleEvent::stop, reason);
  else
    record_rings(*page);
  if (!written) return tl::unexpected(written.error());
  return found_.experiment;
}

std::uint64_t Stops::time_of(lldb::SBProcess process) {
  const std::lock_guard lock(mutex_);
  return process.GetUniqueID() == process_ && process.GetStopID() == stop_ ? time_ : 0;
}

}  // namespace gnomon::injector
