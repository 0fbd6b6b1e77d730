// `gnomon collect`: records a process that runs, without a debugger. The program's only thread.
#include "commands/collect.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <limits>
#include <optional>

#include "commands/command.h"
#include "injector/attach/ptrace/ptrace_attach.h"
#include "injector/attach/remote/remote_process.h"
#include "injector/recording.h"
#include "injector/settings.h"

namespace gnomon::commands {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;
using std::chrono::seconds;

struct Wanted {
  pid_t process = 0;
  std::optional<seconds> time;  // none: until told
  std::string directory = ".";
  bool end = false;  // what records the process already
};

// N, Ns or Nm.
std::optional<seconds> time_of(std::string_view word) {
  constexpr std::size_t kMost = 1'000'000;
  const bool minutes = word.ends_with('m');
  if (minutes || word.ends_with('s')) word.remove_suffix(1);
  const auto number = whole_number(word);
  if (!number || *number == 0 || *number > kMost) return std::nullopt;
  return seconds(*number * (minutes ? 60 : 1));
}

Result<void> set(char option, const std::string& word, Wanted& wanted) {
  if (option == 'd') {
    wanted.directory = word;
  } else if (option == 't') {
    wanted.time = time_of(word);
    if (!wanted.time) return fault(word + " is not a time", "10, 10s and 2m are");
  } else {
    const auto number = whole_number(word);
    if (!number || *number == 0 || *number > std::numeric_limits<pid_t>::max())
      return fault(word + " is not the number of a process", "`ps` lists them");
    wanted.process = static_cast<pid_t>(*number);
  }
  return {};
}

Result<Wanted> read(std::span<const std::string> words) {
  constexpr std::string_view kOptions = "Ptd";
  constexpr const char* kSyntax =
      "gnomon collect -P PID [-t TIME] [-d DIRECTORY], or -P PID -e to end a recording";
  Wanted wanted;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (word.size() < 2 || word[0] != '-')
      return fault("gnomon collect does not start programs, not even " + word,
                   "in LLDB `collector enable` and `run` do; of one that runs give the number: -P");
    if (word == "-e") {
      wanted.end = true;
      continue;
    }
    if (kOptions.find(word[1]) == std::string_view::npos)
      return fault("gnomon collect has no option " + word, kSyntax);
    if (word.size() == 2 && i + 1 == words.size())
      return fault(word + " needs an argument", kSyntax);
    auto done = set(word[1], word.size() > 2 ? word.substr(2) : words[++i], wanted);
    if (!done) return tl::unexpected(done.error());
  }
  if (wanted.process == 0) return fault("no process is named", kSyntax);
  if (wanted.end && (wanted.time || wanted.directory != "."))
    return fault("-e records nothing, and goes with -P alone", kSyntax);
  return wanted;
}

// Beside this program, as it was built or installed.
std::vector<std::string> library_folders() {
  std::error_code error;
  const fs::path here = fs::read_symlink("/proc/self/exe", error).parent_path();
  return {here / ".." / GNOMON_LIBRARY_FOLDER, here / "../lib", here};
}

enum class End { told, time, process, program };

sigset_t ends() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&signals, number);
  return signals;
}

// What the kernel says of a process whose first thread has ended is little, though it runs on.
End wait(pid_t pid, const std::string& program, std::optional<seconds> time) {
  constexpr timespec kLook{0, 50'000'000};
  const auto limit = Clock::now() + time.value_or(seconds(0));
  const sigset_t signals = ends();
  for (;;) {
    if (sigtimedwait(&signals, nullptr, &kLook) > 0) return End::told;
    if (time && Clock::now() >= limit) return End::time;
    const std::string now = injector::program_identity(pid);
    if (now.empty() && injector::threads_of(pid).size() <= 1) return End::process;
    if (!now.empty() && now != program) return End::program;
  }
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
  if (end != End::told && end != End::time) return "";
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

// What another debugger or another of these programs began.
Result<std::string> end_recording(pid_t pid) {
  const auto recording = injector::recording_in(pid);
  if (!recording || !injector::ask_to_end(recording->stem, recording->session, pid))
    return fault(fmt::format("process {} is not being recorded", pid));
  return fmt::format(
      "Recording of process {} has ended. `gnomon print -functions {}` shows it.\n{}", pid,
      recording->experiment,
      injector::release_text(injector::release_by_ptrace(pid, recording->session)));
}

}  // namespace

Result<std::string> collect(std::span<const std::string> words) {
  const auto wanted = read(words);
  if (!wanted) return tl::unexpected(wanted.error());
  const pid_t pid = wanted->process;
  if (wanted->end) return end_recording(pid);
  const auto settings = injector::new_settings(library_folders(), {wanted->directory, "", ""}, {});
  if (!settings) return tl::unexpected(settings.error());
  const sigset_t signals = ends();
  sigprocmask(SIG_BLOCK, &signals, nullptr);
  const std::string program = injector::program_identity(pid);
  const auto attached = injector::attach_by_ptrace(pid, *settings);
  auto text = injector::text_of(attached, pid);
  if (!text) return text;
  const Guard guard(*settings, pid);
  const auto start = Clock::now();
  fmt::print("{}{}", *text, wanted->time ? "" : "Ctrl-C ends the recording.\n");
  std::fflush(stdout);
  const End end = wait(pid, program, wanted->time);
  const std::chrono::duration<double> taken = Clock::now() - start;
  const std::string left = give_back(*settings, end, pid);
  return fmt::format("Recorded {:.1f} s; {}. `gnomon print -functions {}` shows it.\n{}",
                     taken.count(), ending(end, pid), attached->experiment, left);
}

}  // namespace gnomon::commands
