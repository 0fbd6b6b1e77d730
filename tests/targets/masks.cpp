// Threads with signal masks of their own, which they check over and over, until standard input
// ends. Exit status 0 and "right": each was what the thread had made it; 1 and a word: one was not.
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <thread>

namespace {

constexpr int kMoment = 300, kLong = 100'000;  // times some 3 us

void check(bool right, const char* what) {
  if (right) return;
  std::printf("wrong: %s\n", what);
  std::fflush(stdout);
  _exit(1);
}

// In code of its own: where it is in libc or the kernel it is not met.
[[gnu::noipa]] void compute(int times) {
  for (int i = 0; i < times * 10'000; ++i) asm volatile("");
}

bool is_blocked(int signal) {
  sigset_t mask;
  check(pthread_sigmask(SIG_SETMASK, nullptr, &mask) == 0, "pthread_sigmask");
  return sigismember(&mask, signal) == 1;
}
void block_all(int how = SIG_BLOCK) {
  sigset_t all;
  sigfillset(&all);
  check(pthread_sigmask(how, &all, nullptr) == 0, "pthread_sigmask");
}

std::atomic<bool> over = false;
std::mutex lock;
std::condition_variable is_over;

[[gnu::noinline]] void computes_blocked() {
  compute(kMoment);
  check(is_blocked(SIGPROF), "mask of one that computes: SIGPROF");
  check(is_blocked(SIGUSR1), "mask of one that computes: SIGUSR1");
}
void blocked() {
  block_all();
  while (!over) computes_blocked();
}

[[gnu::noinline]] void computes_after_wait() {
  compute(kLong);
  check(is_blocked(SIGPROF) && is_blocked(SIGUSR1), "mask of one that has waited");
}
void waiting() {
  block_all();
  {
    std::unique_lock hold(lock);
    is_over.wait(hold, [] { return over.load(); });
  }
  computes_after_wait();
}

// Its own SIGPROF comes to where it waits for it.
void awaiting() {
  block_all();
  sigset_t wanted;
  sigemptyset(&wanted);
  sigaddset(&wanted, SIGPROF);
  int got = 0;
  check(sigwait(&wanted, &got) == 0 && got == SIGPROF && over, "sigwait");
  check(is_blocked(SIGPROF), "mask of one that has awaited");
}

// Blocks all but SIGPROF, and that only while it waits.
void polling() {
  sigset_t all, own;
  sigfillset(&all);
  own = all;
  sigdelset(&own, SIGPROF);
  check(pthread_sigmask(SIG_SETMASK, &own, nullptr) == 0, "pthread_sigmask");
  while (!over) {
    const timespec moment{0, 100'000'000};
    ppoll(nullptr, 0, &moment, &all);
    check(!is_blocked(SIGPROF) && is_blocked(SIGUSR1), "mask of one that polls");
  }
}

[[gnu::noinline]] void computes_between() {
  compute(kMoment);
  check(!is_blocked(SIGPROF) && !is_blocked(SIGUSR1), "mask of one that has unblocked all");
}
void toggling() {
  while (!over) {
    block_all();
    computes_blocked();
    block_all(SIG_UNBLOCK);
    computes_between();
  }
}

// libc blocks all signals meanwhile.
void spawning() {
  char name[] = "true";
  char* const arguments[] = {name, nullptr};
  while (!over) {
    pid_t child = 0;
    check(posix_spawn(&child, "/bin/true", nullptr, nullptr, arguments, environ) == 0, "spawn");
    while (waitpid(child, nullptr, 0) < 0) check(errno == EINTR, "waitpid");
    check(!is_blocked(SIGPROF) && !is_blocked(SIGUSR1), "mask of one that spawns");
  }
}

void on_signal(int) {
  compute(kMoment * 50);
  check(is_blocked(SIGPROF) && is_blocked(SIGUSR1), "mask of a handler");
}
void handling() {
  struct sigaction action {};
  action.sa_handler = on_signal;
  sigfillset(&action.sa_mask);
  sigaction(SIGUSR2, &action, nullptr);
  while (!over) {
    pthread_kill(pthread_self(), SIGUSR2);
    computes_between();
  }
}

void wait_for_input() {
  pollfd input{STDIN_FILENO, POLLIN, 0};
  while (poll(&input, 1, -1) < 0) check(errno == EINTR, "poll");
}

}  // namespace

int main() {
  std::thread awaits(awaiting);
  std::thread others[] = {std::thread(blocked), std::thread(blocked),  std::thread(waiting),
                          std::thread(polling), std::thread(toggling), std::thread(spawning),
                          std::thread(handling)};
  std::printf("%d is busy\n", getpid());
  std::fflush(stdout);
  wait_for_input();
  {
    const std::unique_lock hold(lock);
    over = true;
  }
  is_over.notify_all();
  pthread_kill(awaits.native_handle(), SIGPROF);
  awaits.join();
  for (std::thread& other : others) other.join();
  std::puts("right");
  return 0;
}
