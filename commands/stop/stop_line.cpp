// What a process used of the machine between two instants at which a debugger held it. Any thread.
#include "commands/stop/stop_line.h"

#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "reader/base/clock.h"
#include "reader/metrics/metric.h"
#include "reader/report/traced/stack_list.h"

namespace gnomon::commands {
namespace {

namespace fs = std::filesystem;

enum : std::size_t {
  ticks,
  allocations,
  bytes_allocated,
  bytes_kept,
  waits,
  wait_time,
  bytes_read,
  bytes_written
};
constexpr std::array kRecorded{reader::kTicks,       reader::kAllocations, reader::kBytesAllocated,
                               reader::kBytesLeaked, reader::kSyncWaits,   reader::kSyncWait,
                               reader::kBytesRead,   reader::kBytesWritten};

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

// "1.203 s", "0.012 ms".
std::string time_text(std::uint64_t ns) {
  if (ns >= 1'000'000'000) return fmt::format("{:.3f} s", static_cast<double>(ns) / 1e9);
  return fmt::format("{:.3f} ms", static_cast<double>(ns) / 1e6);
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
    for (std::size_t i = 0; i < kRecorded.size(); ++i)
      recorded.totals[i] = analysis_->sums().total(kRecorded[i]);
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

// What blocks of memory stay may be less than before.
std::string StopLine::recorded_text(const Recorded& begin, const Recorded& end) {
  using format::Setting;
  const auto since = [&](std::size_t total) {
    return difference(end.totals[total], begin.totals[total]);
  };
  std::string text = ", " + reader::counted(since(ticks), "sample");
  if (const std::uint64_t heap = end.settings[Setting::heaptrace]; heap != 0)
    text +=
        fmt::format("; {}{} of {}, heap {:+} bytes", format::heap_mean(heap) != 0 ? "about " : "",
                    reader::counted(since(allocations), "allocation"),
                    reader::counted(since(bytes_allocated), "byte"),
                    static_cast<std::int64_t>(end.totals[bytes_kept]) -
                        static_cast<std::int64_t>(begin.totals[bytes_kept]));
  if (end.settings[Setting::synctrace] != 0)
    text +=
        fmt::format("; {}, {}", reader::counted(since(waits), "wait"), time_text(since(wait_time)));
  if (end.settings[Setting::iotrace] != 0)
    text += fmt::format("; {} read, {} written", reader::counted(since(bytes_read), "byte"),
                        since(bytes_written));
  return text;
}

std::string StopLine::line(const Instant& begin, const Instant& end, pid_t thread) {
  std::string text = "Stopped; since the process began: ";
  if (begin.time != 0)
    text = fmt::format("Stopped after {}{}: ", begin.is_exact ? "" : "<= ",
                       time_text(difference(end.time, begin.time)));
  if (begin.cpu && end.cpu)
    text += fmt::format("CPU {}", time_text(difference(*end.cpu, *begin.cpu)));
  else
    text += "CPU not known";
  const auto own = end.threads.find(thread), before = begin.threads.find(thread);
  const bool is_new = before == begin.threads.end();
  if (own != end.threads.end() && (!is_new || begin.threads.size() < kMostThreads))
    text += fmt::format(" (this thread {})",
                        time_text(difference(own->second, is_new ? 0 : before->second)));
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
