// Starts children in every way that libc offers, and a thread that libc does not know.
#include <sched.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>

#include "tests/targets/burn.h"

namespace {

constexpr double kChild = 0.3, kThread = 1.5;  // s of CPU time

std::atomic<bool> has_computed{false};

// Has no thread-local storage of its own, so it calls nothing that needs some.
[[gnu::noinline]] int compute(void*) {
  timespec used{};
  do {
    for (int i = 0; i < 200'000; ++i) asm volatile("");
    syscall(SYS_clock_gettime, CLOCK_THREAD_CPUTIME_ID, &used);
  } while (static_cast<double>(used.tv_sec) + static_cast<double>(used.tv_nsec) * 1e-9 < kThread);
  has_computed = true;
  syscall(SYS_exit, 0);
  return 0;
}

void make_thread() {
  alignas(16) static char stack[64 * 1024];
  constexpr int kThreadFlags =
      CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM;
  if (clone(compute, stack + sizeof stack, kThreadFlags, nullptr) < 0) perror("clone");
}

void spawn_true(int (*spawn)(pid_t*, const char*, const posix_spawn_file_actions_t*,
                             const posix_spawnattr_t*, char* const*, char* const*)) {
  char name[] = "true";
  char* words[] = {name, nullptr};
  spawn(nullptr, "/bin/true", nullptr, nullptr, words, environ);
}

}  // namespace

// With an argument it becomes a daemon.
int main(int argc, char**) {
  burn(0.05);
  if (argc > 1) {
    if (daemon(1, 1) != 0) perror("daemon");
    burn(0.05);
    return 0;
  }
  make_thread();
  if (fork() == 0) {
    burn(kChild);
    _exit(0);
  }
  if (vfork() == 0) {
    execl("/bin/true", "true", nullptr);
    _exit(1);
  }
  if (fork() == 0) {
    execl("/bin/sleep", "sleep", "1", nullptr);
    _exit(1);
  }
  spawn_true(posix_spawn);
  spawn_true(posix_spawnp);
  if (system("exit 3") != 3 << 8) return 1;
  FILE* pipe = popen("echo all of it", "r");
  char text[32] = "";
  if (!pipe || !fgets(text, sizeof text, pipe)) return 1;
  pclose(pipe);
  fputs(text, stdout);
  while (wait(nullptr) > 0) continue;
  while (!has_computed) usleep(1000);
  return 0;
}
