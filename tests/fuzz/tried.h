// Tries something that may crash, hang or fill the memory, in a child process.
#pragma once
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <exception>
#include <string>

namespace gnomon::fuzz {

struct Limits {
  rlim_t seconds = 2;                // of CPU time, for every report
  rlim_t bytes = rlim_t{256} << 20;  // beyond what this process has
};

// Returns what went wrong: `what` returned that, or the child ended otherwise. Empty: nothing.
template <typename What>
std::string tried(const Limits& limits, What what) {
  int pipe_ends[2];
  if (pipe(pipe_ends) != 0) return "no pipe";
  const pid_t child = fork();
  if (child == 0) {
    const rlimit cpu{limits.seconds, limits.seconds + 1}, none{0, 0};
    setrlimit(RLIMIT_CPU, &cpu);
    setrlimit(RLIMIT_CORE, &none);
    rusage before{}, after{};
    getrusage(RUSAGE_SELF, &before);
    std::string wrong;
    try {
      wrong = what();
    } catch (const std::exception& error) {
      wrong = std::string("exception ") + error.what();
    }
    getrusage(RUSAGE_SELF, &after);
    const auto grown = static_cast<rlim_t>(after.ru_maxrss - before.ru_maxrss) << 10;
    if (wrong.empty() && grown > limits.bytes)
      wrong = std::to_string(grown >> 20) + " MiB of memory";
    const ssize_t written =
        write(pipe_ends[1], wrong.data(), std::min<std::size_t>(wrong.size(), 4000));
    _exit(written >= 0 && wrong.empty() ? 0 : 1);
  }
  close(pipe_ends[1]);
  char text[4096];
  const ssize_t got = child > 0 ? read(pipe_ends[0], text, sizeof text) : -1;
  close(pipe_ends[0]);
  int status = 0;
  if (child <= 0 || waitpid(child, &status, 0) != child) return "no child";
  if (WIFSIGNALED(status))
    return WTERMSIG(status) == SIGXCPU ? "hangs"
                                       : std::string("dies: ") + strsignal(WTERMSIG(status));
  return {text, got > 0 ? static_cast<std::size_t>(got) : 0};
}

}  // namespace gnomon::fuzz
