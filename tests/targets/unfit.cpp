// Gets into a state that its argument names, in which a collector has no business, says so, and
// stays until its input ends. Exit status 0: nothing has happened to it.
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstddef>
#include <cstdio>
#include <cstring>
#include <iterator>

namespace {

void stay() {
  char byte = 0;
  while (read(0, &byte, 1) > 0) {
  }
}

void say(int number) {
  std::printf("%d\n", number);
  std::fflush(stdout);
}

// The child runs on its parent's memory, and the parent stands still meanwhile.
int has_vforked() {
  const pid_t child = vfork();
  if (child == 0) {
    say(getpid());
    stay();
    _exit(7);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 7 ? 0 : 1;
}

// What is left of the process is its second thread.
int has_lost_its_first_thread() {
  pthread_t second;
  pthread_create(
      &second, nullptr,
      [](void*) -> void* {
        say(getpid());
        stay();
        _exit(0);
      },
      nullptr);
  pthread_exit(nullptr);
}

// One thread beside those that may do anything.
int has_a_confined_thread(bool strictly) {
  pthread_t second;
  pthread_create(
      &second, nullptr,
      [](void* is_strict) -> void* {
        sock_filter code[] = {
            BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
            BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_timer_settime, 0, 1),
            BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_THREAD),
            BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        };
        const sock_fprog program{std::size(code), code};
        prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
        prctl(PR_SET_SECCOMP, is_strict ? SECCOMP_MODE_STRICT : SECCOMP_MODE_FILTER, &program);
        if (write(1, "1\n", 2) != 2) return nullptr;
        stay();
        syscall(SYS_exit, 0);
        return nullptr;
      },
      strictly ? &second : nullptr);
  pthread_join(second, nullptr);
  return 0;
}

int waits() {
  say(getpid());
  stay();
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const char* kind = argc > 1 ? argv[1] : "";
  if (std::strcmp(kind, "vfork") == 0) return has_vforked();
  if (std::strcmp(kind, "leaderless") == 0) return has_lost_its_first_thread();
  if (std::strcmp(kind, "strict") == 0) return has_a_confined_thread(true);
  if (std::strcmp(kind, "filtered-thread") == 0) return has_a_confined_thread(false);
  return waits();
}
