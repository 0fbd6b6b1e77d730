// `gnomon collect -P PID`: records a process that runs, without a debugger. The program's only
// thread.
#include "commands/collect/collect.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <filesystem>

#include "commands/collect/cut_guard.h"
#include "injector/attach/ptrace/ptrace_attach.h"
#include "injector/attach/remote/remote_process.h"
#include "injector/base/recording.h"
#include "injector/base/sampler.h"
#include "injector/base/settings.h"
#include "libcollector/format/names.h"

namespace gnomon::commands {
namespace {

using Clock = std::chrono::steady_clock;

// The reason why waiting for a recording ends.
enum class End {
  told,
  recording,  // its duration is over, or it has failed
  process,
  program,
  overdue,  // its duration is over, and gnomon-sampler has not ended it
  removed   // the experiment is gone, or was cut short
};

sigset_t ends() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&signals, number);
  return signals;
}

// A recording that ends because its process does is not meant.
bool is_over(const format::ControlPage& page) {
  return std::atomic_ref(page.asked).load() == static_cast<std::uint32_t>(format::Ask::end) ||
         std::atomic_ref(page.state).load() == static_cast<std::uint32_t>(format::State::failed);
}

bool is_there(const std::string& experiment) {
  std::error_code error;
  return std::filesystem::exists(experiment + "/" + format::kHeaderFile, error);
}

// The control page is not all there.
bool is_cut(const std::string& experiment) {
  std::error_code error;
  const auto bytes = std::filesystem::file_size(experiment + "/" + format::kControlFile, error);
  return !error && bytes < format::kControlBytes;
}

struct Awaited {
  pid_t pid;
  std::string program;     // identity
  std::string experiment;  // directory
  Clock::time_point limit;
  format::ControlPage* page;  // null: removed or cut short before it could be mapped
};

// What the kernel says of a process whose first thread has ended is little, though it runs on.
End wait(const Awaited& awaited) {
  constexpr timespec kLook{0, 50'000'000};
  const sigset_t signals = ends();
  const auto& [pid, program, experiment, limit, page] = awaited;
  for (;;) {
    if (sigtimedwait(&signals, nullptr, &kLook) > 0) return End::told;
    const std::string now = injector::program_identity(pid);
    if (now.empty() && injector::threads_of(pid).size() <= 1) return End::process;
    if (!now.empty() && now != program) return End::program;
    if (page && is_over(*page)) return End::recording;
    if (!page || !is_there(experiment) || is_cut(experiment)) return End::removed;
    if (Clock::now() >= limit) return End::overdue;
  }
}

// When the recording is to have ended by itself at the latest.
Clock::time_point limit_of(const injector::Settings& settings) {
  constexpr std::chrono::seconds kPatience{1};
  const std::chrono::nanoseconds duration{settings.values[format::Setting::duration]};
  return duration.count() == 0 ? Clock::time_point::max() : Clock::now() + duration + kPatience;
}

std::string lateness(const format::ControlPage* page) {
  const std::string why = page ? injector::sampler_trouble(*page) : "";
  return fmt::format(
      "gnomon-sampler, which is to end the recording in time, has not done so{}; what it records "
      "is missing from then on.\n",
      why.empty() ? "" : ": " + why);
}

std::string failure_text(const format::ControlPage* page) {
  if (!page || page->state != static_cast<std::uint32_t>(format::State::failed)) return "";
  const auto* row = format::find_failure(page->failure);
  if (!row) return "";
  return fmt::format("No events since: {}.\n",
                     sentence({std::string(row->what), std::string(row->next)}));
}

std::string ending(End end, pid_t pid) {
  switch (end) {
    case End::process:
      return fmt::format("process {} has ended", pid);
    case End::program:
      return fmt::format("process {} runs another program now, which is not recorded", pid);
    default:
      return fmt::format("process {} runs on", pid);
  }
}

// What the collector still has of a process that runs on, as a line; empty: nothing.
std::string give_back(const injector::Settings& settings, End end, pid_t pid) {
  injector::ask_to_end(settings.stem, settings.session, pid);
  if (end == End::process || end == End::program) return "";
  return injector::release_text(injector::release_by_ptrace(pid, settings.session));
}

// A process of its own, which ends the recording if this one is killed before it has: then the pipe
// between them closes. Where none can be made the recording goes on, as after a debugger.
class Guard {
 public:
  Guard(const injector::Settings& settings, pid_t recorded) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return;
    child_ = fork();
    if (child_ == 0) {
      close(ends[1]);
      keep(settings, recorded, ends[0]);
    }
    close(ends[0]);
    alive_ = ends[1];
  }
  ~Guard() {
    if (alive_ >= 0) close(alive_);
    if (child_ > 0) waitpid(child_, nullptr, 0);
  }
  Guard(const Guard&) = delete;
  Guard& operator=(const Guard&) = delete;

 private:
  // In the child. The signals that end this program are blocked.
  [[noreturn]] static void keep(const injector::Settings& settings, pid_t recorded, int alive) {
    setsid();
    const int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
    for (const int number : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) dup2(nothing, number);
    char byte;
    while (::read(alive, &byte, 1) < 0 && errno == EINTR) {
    }
    if (injector::is_recording(settings.stem, settings.session, recorded))
      give_back(settings, End::told, recorded);
    _exit(0);
  }

  pid_t child_ = -1;
  int alive_ = -1;
};

std::string release(pid_t pid, std::uint64_t session) {
  return injector::release_text(injector::release_by_ptrace(pid, session));
}

tl::unexpected<Fault> was_removed(const std::string& experiment, const std::string& process) {
  if (is_there(experiment))
    return fault(fmt::format("{}/{} was cut short while it was recorded; {}, with the collector in "
                             "it",
                             experiment, format::kControlFile, process),
                 "start the program anew");
  return fault(fmt::format("{} was removed while it was recorded; {}", experiment, process));
}

}  // namespace

Result<Answer> end_collecting(pid_t pid) {
  const auto recording = injector::recording_in(pid);
  if (recording && injector::ask_to_end(recording->stem, recording->session, pid)) {
    const std::string left = release(pid, recording->session);
    if (!is_there(recording->experiment))
      return was_removed(recording->experiment, ending(End::told, pid));
    return Answer{
        fmt::format("Recording of process {} has ended. `gnomon print -functions {}` shows it.\n{}",
                    pid, recording->experiment, left),
        {}};
  }
  const auto failed = injector::failed_recording_in(pid);
  if (!failed) return fault(fmt::format("process {} is not being recorded", pid));
  return Answer{fmt::format("The recording of process {} had failed already; `gnomon print -status "
                            "{}` says why.\n{}",
                            pid, failed->experiment, release(pid, failed->session)),
                {}};
}

Result<Answer> collect_process(const CollectLine& line, const injector::Settings& settings) {
  survive_cut_files();
  const pid_t pid = line.process;
  const sigset_t signals = ends();
  sigprocmask(SIG_BLOCK, &signals, nullptr);
  const std::string program = injector::program_identity(pid);
  const auto attached = injector::attach_by_ptrace(pid, settings);
  auto text = injector::text_of(attached, pid);
  if (!text) return tl::unexpected(text.error());
  const Guard guard(settings, pid);
  const auto start = Clock::now();
  const bool is_limited = settings.values[format::Setting::duration] != 0;
  fmt::print("{}{}", plain_lines(*text), is_limited ? "" : "Ctrl-C ends the recording.\n");
  std::fflush(stdout);
  const auto found = injector::find_experiment(settings.stem, settings.session, pid);
  const End end = wait({pid, program, attached->experiment, limit_of(settings), found.page.get()});
  const std::chrono::duration<double> taken = Clock::now() - start;
  const bool is_short = is_cut(attached->experiment);
  const bool is_removed = end == End::removed || is_short || !is_there(attached->experiment);
  if (is_removed && found.page && injector::records(*found.page)) injector::ask_to_end(*found.page);
  // Where the control page has been cut the collector must not be called: it would touch that page.
  const std::string left = is_short ? "" : give_back(settings, end, pid);
  if (is_removed) return was_removed(attached->experiment, ending(end, pid));
  return Answer{fmt::format("Recorded {:.1f} s; {}. `gnomon print -functions {}` shows it.\n{}{}{}",
                            taken.count(), ending(end, pid), one_line(attached->experiment),
                            end == End::overdue ? lateness(found.page.get()) : "",
                            failure_text(found.page.get()), left),
                {}};
}

}  // namespace gnomon::commands
