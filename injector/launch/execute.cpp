// Executes a program in place of this one, with the collector. A program of one thread.
#include "injector/launch/execute.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <optional>
#include <stop_token>
#include <thread>
#include <utility>

#include "injector/attach/remote/descriptor.h"
#include "injector/attach/remote/remote_process.h"
#include "injector/base/outside.h"
#include "injector/base/sampler.h"
#include "injector/launch/environment.h"
#include "injector/launch/follow_launch.h"

namespace gnomon::injector {
namespace {

// Stops the process and waits until it is stopped, a second at most. Returns false if it is not.
bool stop(pid_t pid) {
  constexpr std::chrono::milliseconds kPause{1};
  constexpr int kLooks = 1000;
  if (pid <= 0 || kill(pid, SIGSTOP) != 0) return false;
  for (int i = 0; i < kLooks && state_of(pid, pid) != 'T'; ++i) std::this_thread::sleep_for(kPause);
  return state_of(pid, pid) == 'T';
}

void tell(const Execution& execution, const std::string& line) {
  fmt::print(stderr, "{}{}\n", execution.prefix, execution.plain(line));
}

void follow(const Execution& execution, pid_t pid) {
  LaunchNews news;
  bool has_begun = false;
  news.armed = [&](const std::string& experiment) {
    has_begun = true;
    tell(execution, fmt::format("recording process {} to {}", pid, experiment));
    if (!execution.is_stopped) return;
    if (!stop(pid)) return tell(execution, "note: it does not stop, and runs on");
    tell(execution, fmt::format("process {0} is stopped before it begins: `lldb -p "
                                "{0}` attaches to it, `kill -CONT {0}` lets it run",
                                pid));
  };
  news.late = [&](const std::string& why) { tell(execution, "note: " + not_yet(pid, why)); };
  news.failed = [&](const std::string& lines) {
    tell(execution, "note: " + lines.substr(0, lines.find_last_not_of('\n') + 1));
  };
  auto why = follow_launch({execution.settings, execution.program.executable, pid}, news, {});
  if (!why && !has_begun)
    why = Fault{"it ended before its recording began",
                fmt::format("see whether it can write {}.N.er, and whether the disk has room",
                            execution.settings.stem)};
  if (why) tell(execution, fmt::format("process {} is not recorded: {}", pid, sentence(*why)));
}

// In the process beside the program. `executed` ends without a byte once the program is executed.
[[noreturn]] void run_beside(const Execution& execution, pid_t pid, int executed) {
  // What this program has inherited is the recorded one's: files, locks, pipes that somebody reads.
  const int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
  for (const int number : {STDIN_FILENO, STDOUT_FILENO}) dup2(nothing, number);
  const int kept = fcntl(executed, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  for (int number = STDERR_FILENO + 1; number < kept; ++number) close(number);
  close_range(static_cast<unsigned>(kept) + 1, ~0u, 0);
  char byte = 0;
  ssize_t count;
  while ((count = read(kept, &byte, 1)) < 0 && errno == EINTR) {
  }
  if (count == 0) follow(execution, pid);
  _exit(0);
}

// While this lives, orphans of this process's children do not come to it.
class AdoptsNobody {
 public:
  AdoptsNobody() {
    prctl(PR_GET_CHILD_SUBREAPER, &adopts_);
    if (adopts_ != 0) prctl(PR_SET_CHILD_SUBREAPER, 0);
  }
  ~AdoptsNobody() {
    if (adopts_ != 0) prctl(PR_SET_CHILD_SUBREAPER, 1);
  }
  AdoptsNobody(const AdoptsNobody&) = delete;

 private:
  int adopts_ = 0;
};

// Forks twice, so that the program that is to be executed cannot wait for the second child. The
// first one's end raises no signal, and whoever adopts the second one is not this process.
bool fork_beside(const Execution& execution, int executed) {
  const pid_t pid = getpid();
  const AdoptsNobody alone;
  constexpr int kNoSignal = 0;
  const auto child =
      static_cast<pid_t>(syscall(SYS_clone, kNoSignal, nullptr, nullptr, nullptr, 0));
  if (child == 0) {
    setsid();
    const pid_t second = fork();
    if (second == 0) run_beside(execution, pid, executed);
    _exit(second < 0 ? 1 : 0);
  }
  int status = 1;
  while (child > 0 && waitpid(child, &status, __WALL) < 0 && errno == EINTR) {
  }
  return status == 0;
}

// The ends of a pipe for reading and writing, above the standard ones, which may be closed.
std::pair<Descriptor, Descriptor> high_pipe() {
  int ends[2] = {-1, -1};
  [[maybe_unused]] const int made = pipe2(ends, O_CLOEXEC);
  const Descriptor low[] = {Descriptor(ends[0]), Descriptor(ends[1])};
  const auto above = [](const Descriptor& end) {
    return Descriptor(fcntl(end.get(), F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
  };
  return {above(low[0]), above(low[1])};
}

std::vector<char*> pointers_to(const std::vector<std::string>& words) {
  std::vector<char*> pointers;
  pointers.reserve(words.size() + 1);
  for (const std::string& word : words) pointers.push_back(const_cast<char*>(word.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

// Returns errno.
int execute(const Execution& execution) {
  if (!execution.program.is_text) {
    execv(execution.program.path.c_str(), pointers_to(execution.words).data());
    return errno;
  }
  std::vector<std::string> words{"sh", execution.program.path};
  words.insert(words.end(), execution.words.begin() + 1, execution.words.end());
  execv(execution.program.executable.c_str(), pointers_to(words).data());
  return errno;
}

Fault not_executed(const Execution& execution, int error) {
  return {fmt::format("cannot execute {}: {}", execution.program.path, std::strerror(error)), ""};
}

// gnomon-sampler waits for the program to be executed; if that fails it ends with this process.
Fault execute_from_outside(const Execution& execution) {
  if (execution.is_stopped)
    return {"-x needs the collector in the program, and " + execution.obstacle->what,
            "start it in LLDB"};
  Result<std::string> experiment;
  {
    const AdoptsNobody alone;
    experiment = record_from_outside(
        execution.settings, {getpid(), execution.program.executable, execution.words, true},
        *execution.obstacle);
  }
  if (!experiment) return experiment.error();
  tell(execution, fmt::format("recording process {} to {} from outside, by the kernel's clock: {}",
                              getpid(), *experiment, execution.obstacle->what));
  if (const std::string failed = note_experiment(execution.settings, *experiment); !failed.empty())
    tell(execution, "note: " + failed.substr(0, failed.size() - 1));
  return not_executed(execution, execute(execution));
}

}  // namespace

Fault execute_recorded(const Execution& execution) {
  if (execution.obstacle) return execute_from_outside(execution);
  const char* preload = getenv("LD_PRELOAD");
  const auto variables =
      launch_variables(execution.settings, execution.program.executable, preload ? preload : "");
  if (!variables) return variables.error();
  const auto [read_end, write_end] = high_pipe();
  if (!read_end || !write_end) return {"there are too many open files", "see `ulimit -n`"};
  if (!fork_beside(execution, read_end.get()))
    return {"no process can be started beside the program", "see `ulimit -u`"};
  for (const auto& [name, value] : *variables) setenv(name.c_str(), value.c_str(), 1);
  const int error = execute(execution);
  [[maybe_unused]] const ssize_t told = write(write_end.get(), "x", 1);
  return not_executed(execution, error);
}

}  // namespace gnomon::injector
