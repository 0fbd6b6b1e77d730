// A process as /proc and its clocks show it from outside. In gnomon-sampler.
#include "libcollector/sampler/target_process.h"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "libcollector/core/time.h"
#include "libcollector/outside/process_facts.h"
#include "libcollector/record/overview.h"

namespace gnomon::sampler {
namespace {

using collector::number_in_lines;
using format::Figure;
using format::figure;
using format::Figures;

std::string text_of(const std::string& path) {
  std::string text;
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return text;
  std::array<char, 4096> piece{};
  ssize_t n = 0;
  while ((n = read(file, piece.data(), piece.size())) > 0)
    text.append(piece.data(), static_cast<std::size_t>(n));
  close(file);
  return n == 0 ? text : "";
}

// The first `count` numbers of a line, apart by blanks. Empty: there are fewer.
std::vector<std::uint64_t> numbers_in(std::string_view text, std::size_t count) {
  std::vector<std::uint64_t> numbers;
  const char *at = text.data(), *end = at + text.size();
  while (at < end && numbers.size() < count) {
    numbers.push_back(std::strtoull(at, nullptr, 10));
    at = std::find(at, end, ' ');
    if (at < end) ++at;
  }
  return numbers.size() == count ? numbers : std::vector<std::uint64_t>();
}

constexpr std::size_t kMinor = 10, kMajor = 12, kUser = 14, kSystem = 15, kChildrenUser = 16,
                      kChildrenSystem = 17;

// Faults and CPU times from a file `stat`, proc_pid_stat(5). The second field, in parentheses, is a
// name and may hold anything; the third is a letter.
void read_stat(const std::string& text, Figures& figures, bool is_process) {
  constexpr std::size_t kFirst = 4;
  static const auto tick = 1'000'000'000 / static_cast<std::uint64_t>(sysconf(_SC_CLK_TCK));
  const auto behind = text.rfind(") ");
  if (behind == std::string::npos || behind + 4 > text.size()) return;
  const auto fields =
      numbers_in(std::string_view(text).substr(behind + 4), kChildrenSystem - kFirst + 1);
  if (fields.empty()) return;
  figure(figures, Figure::minor_faults) = fields[kMinor - kFirst];
  figure(figures, Figure::major_faults) = fields[kMajor - kFirst];
  figure(figures, Figure::user) = fields[kUser - kFirst] * tick;
  figure(figures, Figure::system) = fields[kSystem - kFirst] * tick;
  if (is_process)
    figure(figures, Figure::children) =
        (fields[kChildrenUser - kFirst] + fields[kChildrenSystem - kFirst]) * tick;
}

// The address of the random bytes that the kernel puts onto the stack of each new program differs
// with every exec. Empty: the process is not there, or this program may not look into it.
std::string program_in(const std::string& directory) { return text_of(directory + "/auxv"); }

// The last of the numbers behind "NSpid:": the one in the innermost pid namespace.
std::uint32_t own_number_in(const std::string& status) {
  constexpr std::string_view kKey = "\nNSpid:";
  const auto at = status.find(kKey);
  if (at == std::string::npos) return 0;
  const auto end = status.find('\n', at + 1);
  const auto last = status.find_last_of(" \t", end);
  return static_cast<std::uint32_t>(std::strtoul(status.c_str() + last, nullptr, 10));
}

std::string name_in(const std::string& status) {
  constexpr std::string_view kKey = "Name:\t";
  if (!status.starts_with(kKey)) return "";
  return status.substr(kKey.size(), status.find('\n') - kKey.size());
}

std::vector<pid_t> threads_in(const std::string& directory, std::size_t most) {
  std::vector<pid_t> threads;
  DIR* tasks = opendir((directory + "/task").c_str());
  if (!tasks) return threads;
  while (const dirent* entry = readdir(tasks)) {
    const long tid = std::strtol(entry->d_name, nullptr, 10);
    if (tid > 0 && threads.size() < most) threads.push_back(static_cast<pid_t>(tid));
  }
  closedir(tasks);
  return threads;
}

}  // namespace

TargetProcess::TargetProcess(pid_t pid)
    : directory_("/proc/" + std::to_string(pid)),
      pid_(pid),
      own_number_(own_number_in(text_of(directory_ + "/status"))),
      program_(program_in(directory_)) {}

bool TargetProcess::is_stopped() const {
  for (const pid_t tid : threads_in(directory_, kMostThreads)) {
    const std::string text = text_of(directory_ + "/task/" + std::to_string(tid) + "/stat");
    const auto behind = text.rfind(") ");
    if (behind == std::string::npos || behind + 2 >= text.size()) continue;  // it has ended
    if (const char state = text[behind + 2]; state != 't' && state != 'T' && state != 'Z')
      return false;
  }
  return true;
}

// A process that changes its user meanwhile cannot be looked into any more.
bool TargetProcess::has_executed() const {
  const std::string now = program_in(directory_);
  return !now.empty() && !program_.empty() && now != program_;
}

// A thread without a time slice since the last look has not run; then its other files are not read.
void TargetProcess::look_at_thread(pid_t tid, Look& look) {
  const std::string directory = directory_ + "/task/" + std::to_string(tid);
  const auto numbers = numbers_in(text_of(directory + "/schedstat"), 3);  // ran, waited, slices
  if (numbers.empty()) return;
  Ran& ran = threads_[tid];
  ran.look = looks_;
  if (ran.slices == numbers[2] && ran.cpu == numbers[0]) return;
  const std::string status = text_of(directory + "/status");
  ran.cpu = numbers[0];
  ran.waiting = numbers[1];
  ran.slices = numbers[2];
  ThreadFigures thread{own_number_in(status), name_in(status)};
  if (thread.name == format::kFilesThread) {
    ++look.of_collector;
    return;
  }
  figure(thread.figures, Figure::cpu) = ran.cpu;
  figure(thread.figures, Figure::waiting) = ran.waiting;
  const std::uint64_t voluntary = number_in_lines(status.c_str(), "voluntary_ctxt_switches:");
  const std::uint64_t involuntary = number_in_lines(status.c_str(), "nonvoluntary_ctxt_switches:");
  figure(thread.figures, Figure::voluntary_switches) = voluntary;
  figure(thread.figures, Figure::involuntary_switches) = involuntary;
  if (voluntary != format::kUnknownFigure) ran.voluntary = voluntary;
  if (involuntary != format::kUnknownFigure) ran.involuntary = involuntary;
  read_stat(text_of(directory + "/stat"), thread.figures, false);
  if (thread.thread != 0) look.threads.push_back(std::move(thread));
}

// Where the kernel has the file `children` (CONFIG_PROC_CHILDREN). A child is named by its program,
// which it may not have executed yet.
void TargetProcess::look_for_children(pid_t tid, Look& look) {
  const std::string text = text_of(directory_ + "/task/" + std::to_string(tid) + "/children");
  for (const char* at = text.c_str(); *at != 0;) {
    char* end = nullptr;
    const auto pid = static_cast<pid_t>(std::strtol(at, &end, 10));
    if (end == at) return;
    at = end + std::strspn(end, " ");
    const std::string status = text_of("/proc/" + std::to_string(pid) + "/status");
    std::string name = name_in(status);
    if (name.empty() || (children_.size() >= kMostChildren && !children_.contains(pid))) continue;
    std::string& known = children_[pid];
    if (known == name) continue;
    known = name;
    look.children.push_back({own_number_in(status), std::move(name)});
  }
}

void TargetProcess::forget_ended() {
  std::erase_if(threads_, [this](const auto& entry) {
    const Ran& ran = entry.second;
    if (ran.look == looks_) return false;
    ended_.waiting += ran.waiting;
    ended_.voluntary += ran.voluntary;
    ended_.involuntary += ran.involuntary;
    return true;
  });
}

std::uint64_t TargetProcess::sum(std::uint64_t Ran::*figure, std::uint64_t ended) const {
  for (const auto& [tid, ran] : threads_) ended += ran.*figure;
  return ended;
}

// The process's own CPU time is read last: then no thread has a share that the process has not.
Look TargetProcess::look() {
  ++looks_;
  Look look;
  const auto threads = threads_in(directory_, kMostThreads);
  for (const pid_t tid : threads) {
    look_at_thread(tid, look);
    look_for_children(tid, look);
  }
  if (!threads.empty()) forget_ended();
  collector::read_proc_figures(directory_.c_str(), look.process);
  read_stat(text_of(directory_ + "/stat"), look.process, true);
  if (!threads_.empty()) {
    figure(look.process, Figure::waiting) = sum(&Ran::waiting, ended_.waiting);
    figure(look.process, Figure::voluntary_switches) = sum(&Ran::voluntary, ended_.voluntary);
    figure(look.process, Figure::involuntary_switches) = sum(&Ran::involuntary, ended_.involuntary);
  }
  if (look.of_collector != 0)
    figure(look.process, Figure::threads) = threads.size() - look.of_collector;
  const std::uint64_t all = figure(look.process, Figure::threads);
  if (threads.size() == kMostThreads && all != format::kUnknownFigure && all > kMostThreads)
    look.threads_left_out = static_cast<std::uint32_t>(all - threads.size());
  look.time = collector::now(CLOCK_MONOTONIC);
  if (const std::uint64_t cpu = outside::cpu_time_of(pid_); cpu != 0)
    figure(look.process, Figure::cpu) = cpu;
  look.is_news = figure(look.process, Figure::cpu) != cpu_ || !look.children.empty();
  cpu_ = figure(look.process, Figure::cpu);
  return look;
}

}  // namespace gnomon::sampler
