// Gets into a state that its argument names, in which a collector has no business, says so, and
// stays until its input ends. Exit status 0: nothing has happened to it.
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>

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
  return waits();
}
