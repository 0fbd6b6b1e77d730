// Children by every way there is, beside threads that allocate and lock.
#include <fcntl.h>
#include <sched.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

#include "tests/targets/hostile/rows.h"

namespace hostile {
namespace {

long status_of(pid_t child) {
  int status = -1;
  return child > 0 && waitpid(child, &status, 0) == child ? status : -1;
}

char* const kTrue[] = {const_cast<char*>("true"), nullptr};

// Redirects what is to be its output, as shells do.
[[gnu::noinline]] long status_by_vfork(int output) {
  const pid_t child = vfork();  // NOLINT
  if (child == 0) {
    dup2(output, STDOUT_FILENO);
    close(STDERR_FILENO);
    execve("/bin/true", kTrue, environ);
    _exit(92);
  }
  return status_of(child);
}

void by_vfork(Findings& findings) {
  long statuses = 0;
  for (int i = 0; i < 5; ++i) {
    int ends[2];
    if (pipe(ends) != 0) _exit(91);
    statuses += status_by_vfork(ends[1]);
    for (const int end : ends) close(end);
    work(20);
  }
  find(findings, "statuses", statuses);
}

void by_spawn(Findings& findings) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addclose(&actions, STDIN_FILENO);
  long statuses = 0;
  for (int i = 0; i < 5; ++i) {
    pid_t child = 0;
    if (posix_spawn(&child, "/bin/true", &actions, nullptr, kTrue, environ) != 0) _exit(91);
    statuses += status_of(child);
    work(20);
  }
  posix_spawn_file_actions_destroy(&actions);
  find(findings, "statuses", statuses);
}

void by_shell(Findings& findings) {
  find(findings, "status of system", WEXITSTATUS(std::system("exit 7")));  // NOLINT
  FILE* const pipe = popen("echo 5; exit 3", "r");                         // NOLINT
  char line[16] = "";
  if (!pipe || !std::fgets(line, sizeof line, pipe)) _exit(91);
  find(findings, "printed", std::atol(line));
  find(findings, "status of popen", WEXITSTATUS(pclose(pipe)));
}

// Children of forks work on, though other threads held every lock there is.
void forks_beside_threads(Findings& findings) {
  std::atomic<bool> over = false;
  std::vector<std::thread> others;
  for (int i = 0; i < 4; ++i)
    others.emplace_back([&over] {
      while (!over) work(10);
    });
  long statuses = 0;
  for (int i = 0; i < 12; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      for (int j = 0; j < 50; ++j) std::free(std::malloc(static_cast<std::size_t>(j) * 16 + 1));
      _exit(5);
    }
    statuses += WEXITSTATUS(status_of(child));
  }
  over = true;
  for (std::thread& other : others) other.join();
  find(findings, "statuses", statuses);
}

struct Helper {
  int ends[2];
  std::atomic<long> read = 0;
};

int helps(void* argument) {
  Helper& helper = *static_cast<Helper*>(argument);
  char byte = 0;
  while (read(helper.ends[0], &byte, 1) == 1 && byte == 'x') ++helper.read;
  return 9;
}

// A child that shares all but the thread: it does input and output alone, as thread-local storage
// is its parent's.
void by_clone(Findings& findings) {
  constexpr std::size_t kStack = 1 << 18;
  void* const stack =
      mmap(nullptr, kStack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  Helper helper;
  if (stack == MAP_FAILED || pipe(helper.ends) != 0) _exit(91);
  const pid_t child = clone(helps, static_cast<char*>(stack) + kStack, CLONE_VM | SIGCHLD, &helper);
  for (int i = 0; i < 300; ++i) {
    if (write(helper.ends[1], "x", 1) != 1) _exit(92);
    work(3);
  }
  if (write(helper.ends[1], "q", 1) != 1) _exit(93);
  find(findings, "status", status_of(child));
  find(findings, "read", helper.read);
  munmap(stack, kStack);
  for (const int end : helper.ends) close(end);
}

volatile sig_atomic_t ended = 0;
void note_end(int) {
  const int error = errno;
  while (waitpid(-1, nullptr, WNOHANG) > 0) ended = ended + 1;
  errno = error;
}

// A server that collects its children in a handler.
void collected_in_a_handler(Findings& findings) {
  ended = 0;
  struct sigaction action {};
  action.sa_handler = note_end;
  action.sa_flags = SA_RESTART | SA_NOCLDSTOP;
  sigaction(SIGCHLD, &action, nullptr);
  for (int i = 0; i < 10; ++i) {
    if (fork() == 0) {
      work(20);
      _exit(0);
    }
    work(50);
  }
  for (int i = 0; i < 20'000 && ended < 10; ++i) usleep(500);
  action.sa_handler = SIG_DFL;
  sigaction(SIGCHLD, &action, nullptr);
  find(findings, "children that have ended", ended);
  find(findings, "more children", waitpid(-1, nullptr, WNOHANG));
}

void killed(Findings& findings) {
  for (const int signal : {SIGTERM, SIGKILL, SIGPROF, SIGSEGV}) {
    const pid_t child = fork();
    if (child == 0)
      for (;;) pause();
    usleep(2000);
    if (child > 0) kill(child, signal);
    find(findings, "signal that ended the child", WTERMSIG(status_of(child)));
  }
}

constexpr Row kRows[] = {{"vfork", by_vfork}, {"spawn", by_spawn},
                         {"shell", by_shell}, {"forks_beside_threads", forks_beside_threads},
                         {"clone", by_clone}, {"collected", collected_in_a_handler},
                         {"killed", killed}};

}  // namespace

std::span<const Row> rows_of_children() { return kRows; }

}  // namespace hostile
