// What a process used of the machine between two instants at which a debugger held it. Any thread.
#include "commands/stop/stop_line.h"

#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "reader/base/clock.h"
#include "reader/report/traced/stack_list.h"
#include "reader/report/traced/tracer_text.h"

namespace gnomon::commands {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostThreads = 512;  // whose clocks are read: a file each

// Of all threads of a process, also of those that have ended.
std::optional<std::uint64_t> cpu_of(pid_t pid) {
  clockid_t clock{};
  timespec time{};
  if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &time) != 0)
    return std::nullopt;
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000u +
         static_cast<std::uint64_t>(time.tv_nsec);
}

// By thread: the first number of schedstat, ns (Documentation/scheduler/sched-stats.rst).
std::map<pid_t, std::uint64_t> cpu_of_threads(pid_t pid) {
  std::map<pid_t, std::uint64_t> all;
  std::error_code failed;
  for (fs::directory_iterator at(fmt::format("/proc/{}/task", pid), failed), end;
       !failed && at != end && all.size() < kMostThreads; at.increment(failed)) {
    std::ifstream file(at->path() / "schedstat");
    std::uint64_t ran = 0;
    if (file >> ran) all[std::atoi(at->path().filename().c_str())] = ran;
  }
  return all;
}

std::uint64_t difference(std::uint64_t end, std::uint64_t begin) {
  return end - std::min(begin, end);
}

// The totals that the line may show.
const std::vector<reader::MetricId>& shown_metrics() {
  static const std::vector<reader::MetricId> all = [] {
    std::vector<reader::MetricId> found{reader::kTicks};
    for (const format::TracerRow& tracer : format::kTracers)
      for (const reader::MetricId metric : reader::metrics_in(tracer.stopped))
        found.push_back(metric);
    return found;
  }();
  return all;
}

}  // namespace

StopLine::Instant StopLine::read_clocks(pid_t pid) {
  Instant instant;
  instant.pid = pid;
  instant.cpu = cpu_of(pid);
  instant.threads = cpu_of_threads(pid);
  instant.time = monotonic_now();
  return instant;
}

// Reads what is new in the experiment.
std::optional<StopLine::Recorded> StopLine::recorded_in(const std::string& directory) {
  if (directory != directory_ || (analysis_ && analysis_->is_spent())) analysis_.reset();
  directory_ = directory;
  if (directory.empty()) return std::nullopt;
  if (!analysis_) {
    auto opened = reader::Analysis::open({directory});
    if (!opened) return std::nullopt;
    analysis_ = std::move(*opened);
  }
  if (analysis_->update({})) {
    Recorded recorded{{}, analysis_->experiment().header.settings};
    for (const reader::MetricId metric : shown_metrics())
      recorded.totals[metric] = analysis_->sums().total(metric);
    return recorded;
  }
  analysis_.reset();
  return std::nullopt;
}

void StopLine::resumed(pid_t pid) {
  const std::lock_guard lock(mutex_);
  Instant instant = read_clocks(pid);
  instant.is_exact = true;
  if (begin_ && begin_->pid == pid) instant.recorded = begin_->recorded;
  begin_ = std::move(instant);
}

std::string StopLine::recorded_text(const Recorded& begin, const Recorded& end) {
  const auto total_in = [](const Recorded& recorded, reader::MetricId metric) {
    const auto at = recorded.totals.find(metric);
    return at == recorded.totals.end() ? 0 : static_cast<std::int64_t>(at->second);
  };
  const auto since = [&](reader::MetricId metric) {
    return total_in(end, metric) - total_in(begin, metric);
  };
  const auto samples = static_cast<std::uint64_t>(std::max<std::int64_t>(since(reader::kTicks), 0));
  std::string text = ", " + reader::counted(samples, "sample");
  for (const format::TracerRow& tracer : format::kTracers)
    if (is_on(tracer, end.settings) && !tracer.stopped.empty())
      text +=
          "; " + reader::tracer_text(tracer, tracer.stopped, end.settings[tracer.setting], since);
  return text;
}

std::string StopLine::line(const Instant& begin, const Instant& end, pid_t thread) {
  std::string text = "Stopped; since the process began: ";
  if (begin.time != 0)
    text = fmt::format("Stopped after {}{}: ", begin.is_exact ? "" : "<= ",
                       reader::time_text(difference(end.time, begin.time)));
  if (begin.cpu && end.cpu)
    text += fmt::format("CPU {}", reader::time_text(difference(*end.cpu, *begin.cpu)));
  else
    text += "CPU not known";
  const auto own = end.threads.find(thread), before = begin.threads.find(thread);
  const bool is_new = before == begin.threads.end();
  if (own != end.threads.end() && (!is_new || begin.threads.size() < kMostThreads))
    text += fmt::format(" (this thread {})",
                        reader::time_text(difference(own->second, is_new ? 0 : before->second)));
  if (end.recorded) text += recorded_text(begin.recorded.value_or(Recorded{}), *end.recorded);
  return text + ".\n";
}

std::string StopLine::stopped(pid_t pid, pid_t thread, const std::string& directory, bool is_ours) {
  const std::lock_guard lock(mutex_);
  Instant end = read_clocks(pid);
  end.recorded = recorded_in(directory);
  if (begin_ && begin_->pid != pid) begin_.reset();
  if (!begin_ && is_ours) begin_ = Instant{pid, false, 0, 0};
  last_ = begin_ ? line(*begin_, end, thread) : "";
  begin_ = std::move(end);
  return last_;
}

std::string StopLine::last() {
  const std::lock_guard lock(mutex_);
  return last_;
}

}  // namespace gnomon::commands
