// Notes each stop of a recorded program that LLDB's user sees. LLDB's command thread, and the
// thread that handles a debugger's events.
#include "injector/stops.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <nlohmann/json.hpp>
#include <thread>
#include <vector>

#include "injector/lldb_commands.h"
#include "injector/sampler.h"
#include "libcollector/format/names.h"
#include "libcollector/format/text.h"

namespace gnomon::injector {
namespace {

constexpr const char* kCommand = "collector note-stop";

std::uint64_t now() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 +
         static_cast<std::uint64_t>(time.tv_nsec);
}

std::string reason_of(lldb::SBThread thread) {
  char text[format::kLabelBytes] = "";
  if (thread.GetStopReason() != lldb::eStopReasonNone) thread.GetStopDescription(text, sizeof text);
  return text;
}

// Bytes that are no UTF-8 become question marks.
std::string line_of(std::uint64_t time, const std::string& reason) {
  nlohmann::json object{{"event", format::kLogStop}, {"time", time}};
  if (!reason.empty()) object[format::kLogReason] = reason;
  std::string line = object.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
  line.pop_back();  // }
  return fmt::format("{}{}{:08x}{}\n", line, format::kCheckKey,
                     format::line_check(line.data(), line.size()), format::kCheckEnd);
}

// In one write, as everybody appends to the log.
void append(const std::string& experiment, const std::string& line) {
  const std::string path = experiment + "/" + format::kLogFile;
  const int file = open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (file < 0) return;
  [[maybe_unused]] const ssize_t written = write(file, line.data(), line.size());
  close(file);
}

// gnomon-sampler of a program that has just been started may not be there yet.
void await_sampler(format::ControlPage& page) {
  constexpr std::uint64_t kStart = 1'000'000'000, kPatience = 300'000'000;  // ns
  const std::uint64_t begin = now();
  if (page.start_time + kStart < begin) return;
  while (std::atomic_ref(page.sampler_time).load() == 0 && now() < begin + kPatience)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

// Numbers of the hooks of the selected target that note stops.
std::vector<std::string> our_hooks(lldb::SBDebugger debugger) {
  std::vector<std::string> numbers;
  for (const StopHook& hook : stop_hooks(debugger))
    if (std::find(hook.lines.begin(), hook.lines.end(), kCommand) != hook.lines.end())
      numbers.push_back(hook.number);
  return numbers;
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
  if (our_hooks(debugger).empty())
    quietly(debugger, fmt::format("target stop-hook add -o '{}'", kCommand));
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
  if (found_pid_ != pid || !found_.page || !records(*found_.page)) {
    found_ = find_recording(stem_, session_, pid);
    found_pid_ = pid;
    if (!found_.page)
      if (const auto others = recording_in(pid))
        found_ = find_recording(others->stem, others->session, pid);
  }
  return found_.page.get();
}

void Stops::note(lldb::SBProcess process) {
  const std::lock_guard lock(mutex_);
  const std::uint32_t number = process.GetUniqueID(), stop = process.GetStopID();
  if (number == process_ && stop == stop_) return;
  process_ = number;
  stop_ = stop;
  format::ControlPage* const page = page_of(static_cast<pid_t>(process.GetProcessID()));
  if (!page) return;
  const std::string reason = reason_of(process.GetSelectedThread());
  append(found_.experiment, line_of(now(), reason));
  if (!is_sampling_) return;
  await_sampler(*page);
  ask_for_sample(*page, format::Verb::sample, format::SampleEvent::stop, reason);
}

}  // namespace gnomon::injector
