// Uses CPU time in ways that are hard on a clock: for long, in many short threads, up to an exec.
#include <fcntl.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>

#include "tests/targets/burn.h"

extern "C" {
[[gnu::noinline]] void before_exec() { burn(0.05); }
[[gnu::noinline]] void after_exec_failed() { burn(0.1); }
[[gnu::noinline]] void brief(double seconds) { burn(seconds); }
}

namespace {

// Prints how SIGPROF is set when the program starts, and how many descriptors are open.
int tell() {
  struct sigaction action {};
  sigset_t mask;
  sigaction(SIGPROF, nullptr, &action);
  sigprocmask(SIG_BLOCK, nullptr, &mask);
  int open = 0;
  const long limit = sysconf(_SC_OPEN_MAX);
  for (int i = 0; i < limit; ++i) open += fcntl(i, F_GETFD) >= 0;
  std::printf("ignored %d blocked %d open %d\n", action.sa_handler == SIG_IGN,
              sigismember(&mask, SIGPROF), open);
  return 0;
}

// SIGPROF is blocked by an instruction that nothing can follow, so that ticks come late.
void block_unseen(int how) {
  const unsigned long profile = 1ul << (SIGPROF - 1);
  register long size asm("r10") = sizeof profile;
  long result = SYS_rt_sigprocmask;
  asm volatile("syscall"
               : "+a"(result)
               : "D"(how), "S"(&profile), "d"(nullptr), "r"(size)
               : "rcx", "r11", "memory");
}

// How many timers the process has after a second of late ticks.
int late() {
  for (int i = 0; i < 10; ++i) {
    block_unseen(SIG_BLOCK);
    burn(0.1);
    block_unseen(SIG_UNBLOCK);
  }
  int timers = 0;
  std::FILE* file = std::fopen("/proc/self/timers", "r");
  if (!file) return 1;
  for (char line[256]; std::fgets(line, sizeof line, file);)
    timers += std::strncmp(line, "ID:", 3) == 0;
  std::fclose(file);
  std::printf("timers %d\n", timers);
  return 0;
}

void execute(const std::string& way, const char* self) {
  char name[] = "clocks", word[] = "tell";
  char* const argv[] = {name, word, nullptr};
  if (way == "execve") execve(self, argv, environ);
  if (way == "execv") execv(self, argv);
  if (way == "execvp") execvp(self, argv);
  if (way == "execvpe") execvpe(self, argv, environ);
  if (way == "fexecve") fexecve(open(self, O_RDONLY | O_CLOEXEC), argv, environ);
  if (way == "execveat") execveat(AT_FDCWD, self, argv, environ, 0);
  if (way == "syscall execve") syscall(SYS_execve, self, argv, environ);
  if (way == "syscall execveat") syscall(SYS_execveat, AT_FDCWD, self, argv, environ, 0);
  if (way == "execl") execl(self, name, word, nullptr);
  if (way == "execlp") execlp(self, name, word, nullptr);
  if (way == "execle") execle(self, name, word, nullptr, environ);
}

int fork_and_execute(const std::string& way, const char* self, pid_t child) {
  if (child < 0) return 1;
  if (child == 0) {
    execute(way, self);
    _exit(2);
  }
  int status = 0;
  if (waitpid(child, &status, 0) != child || status != 0) return 3;
  after_exec_failed();  // the parent's clock goes on
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "", way = argc > 2 ? argv[2] : "";
  char self[4096];
  const ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
  if (length <= 0) return 1;
  self[length] = 0;
  if (what == "tell") return tell();
  if (what == "late") return late();
  if (what == "long") burn(std::atof(argv[2]));
  if (what == "short")
    for (int i = std::atoi(argv[2]); i > 0; --i) std::thread(brief, std::atof(argv[3])).join();
  if (what == "ignore") signal(SIGPROF, SIG_IGN);
  if (what == "block") {
    sigset_t tick;
    sigemptyset(&tick);
    sigaddset(&tick, SIGPROF);
    sigprocmask(SIG_BLOCK, &tick, nullptr);
  }
  if (what == "fail") {
    before_exec();
    execute(way, "/nowhere");
    after_exec_failed();
  }
  if (what == "fork") return fork_and_execute(way, self, fork());
  if (what == "vfork") return fork_and_execute(way, self, vfork());  // NOLINT
  if (what == "exec" || what == "ignore" || what == "block") {
    before_exec();
    execute(way, self);
    return 1;
  }
  return what == "long" ? tell() : 0;
}
