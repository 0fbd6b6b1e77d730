// Uses SIGPROF and signal masks for itself, as the argument says, while it computes; ends with 0 if
// everything went as it would without a profiler.
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>

#include "tests/targets/burn.h"

namespace {

volatile sig_atomic_t handled = 0;
volatile int value_seen = 0;
volatile bool masks_right = true;

void check_at(bool right, int line) {
  if (right) return;
  std::printf("line %d does not hold\n", line);
  std::exit(1);
}
#define CHECK(...) check_at(__VA_ARGS__, __LINE__)

[[gnu::noinline]] void burn_masked(double seconds) {
  burn(seconds);
  asm volatile("");
}

bool blocked_now(int signal) {
  sigset_t mask;
  pthread_sigmask(SIG_SETMASK, nullptr, &mask);
  return sigismember(&mask, signal) == 1;
}

void on_signal(int signal, siginfo_t* info, void*) {
  if (signal == SIGPROF && info->si_code == SI_QUEUE) value_seen = info->si_value.sival_int;
  masks_right = masks_right && blocked_now(SIGPROF) && blocked_now(SIGUSR1) && !blocked_now(SIGINT);
  handled = handled + 1;
}

void count(int) { handled = handled + 1; }

struct sigaction action_of(void (*handler)(int, siginfo_t*, void*), int flags) {
  struct sigaction action {};
  action.sa_sigaction = handler;
  action.sa_flags = SA_SIGINFO | flags;
  sigaddset(&action.sa_mask, SIGUSR1);
  return action;
}

// Its own handler: installed, asked for, called with what was sent, taken away.
void own_handler() {
  struct sigaction mine = action_of(on_signal, 0), old{}, asked{};
  CHECK(sigaction(SIGPROF, &mine, &old) == 0 && old.sa_handler == SIG_DFL);
  CHECK(sigaction(SIGPROF, nullptr, &asked) == 0 && asked.sa_sigaction == on_signal);
  constexpr int kRestorer = 0x04000000;  // the kernel's, shown by glibc
  CHECK((asked.sa_flags & ~kRestorer) == SA_SIGINFO && sigismember(&asked.sa_mask, SIGUSR1) == 1);
  burn(0.3);
  CHECK(handled == 0);
  sigval value{};
  value.sival_int = 4711;
  CHECK(sigqueue(getpid(), SIGPROF, value) == 0);
  CHECK(handled == 1 && value_seen == 4711 && masks_right);
  // Blocked: pending until it is unblocked, and the clock goes on.
  sigset_t all;
  sigfillset(&all);
  CHECK(pthread_sigmask(SIG_BLOCK, &all, nullptr) == 0);
  CHECK(sigqueue(getpid(), SIGPROF, value) == 0);
  burn_masked(0.2);
  CHECK(handled == 1);
  CHECK(pthread_sigmask(SIG_UNBLOCK, &all, nullptr) == 0 && handled == 2);
  CHECK(signal(SIGPROF, SIG_IGN) == mine.sa_handler);
  raise(SIGPROF);
  CHECK(handled == 2);
  burn(0.3);
}

// The family of signal(2).
void family() {
  CHECK(signal(SIGPROF, count) == SIG_DFL && raise(SIGPROF) == 0 && handled == 1);
  CHECK(raise(SIGPROF) == 0 && handled == 2);
  CHECK(sysv_signal(SIGPROF, count) == count && raise(SIGPROF) == 0 && handled == 3);
  CHECK(signal(SIGPROF, SIG_IGN) == SIG_DFL);  // the handler was for once
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
  CHECK(sigset(SIGPROF, count) == SIG_IGN && raise(SIGPROF) == 0 && handled == 4);
  CHECK(sigset(SIGPROF, SIG_HOLD) == count && blocked_now(SIGPROF));
  CHECK(raise(SIGPROF) == 0 && handled == 4);
  CHECK(sigset(SIGPROF, count) == SIG_HOLD && handled == 5 && !blocked_now(SIGPROF));
  CHECK(sigignore(SIGPROF) == 0 && raise(SIGPROF) == 0 && handled == 5);
  CHECK(siginterrupt(SIGPROF, 1) == 0);
  burn(0.5);
}

// A profiling timer of its own.
void own_timer() {
  CHECK(signal(SIGPROF, count) == SIG_DFL);
  const itimerval every{{0, 10'000}, {0, 10'000}};
  CHECK(setitimer(ITIMER_PROF, &every, nullptr) == 0);
  burn(0.8);
  const itimerval never{};
  CHECK(setitimer(ITIMER_PROF, &never, nullptr) == 0);
  // 67 where the kernel ticks every 4 ms, 80 where its ticks are finer; the ticks, not the time,
  // are counted, which a busy machine makes differ. The collector would add 80.
  CHECK(handled >= 30 && handled <= 110);
}

// Everything blocked: sampled all the same, and told what it expects.
void blocked() {
  sigset_t all, old, pending;
  sigfillset(&all);
  CHECK(sigprocmask(SIG_SETMASK, &all, &old) == 0 && sigismember(&old, SIGPROF) == 0);
  CHECK(blocked_now(SIGPROF) && blocked_now(SIGINT));
  burn_masked(0.5);
  CHECK(raise(SIGPROF) == 0);
  CHECK(sigpending(&pending) == 0 && sigismember(&pending, SIGPROF) == 1);
  siginfo_t info{};
  CHECK(sigwaitinfo(&all, &info) == SIGPROF && info.si_pid == getpid());
  CHECK(sigprocmask(SIG_SETMASK, &old, nullptr) == 0 && !blocked_now(SIGPROF));
  CHECK(sigprocmask(42, &all, nullptr) == -1 && errno == EINVAL && !blocked_now(SIGPROF));
}

// Waits for signals between computing: never gets one that nobody sent.
void waits() {
  sigset_t all;
  sigfillset(&all);
  CHECK(pthread_sigmask(SIG_BLOCK, &all, nullptr) == 0);
  for (int i = 0; i < 200; ++i) {
    burn_masked(0.0025);
    const timespec limit{0, 100'000};
    siginfo_t info{};
    CHECK(sigtimedwait(&all, &info, &limit) == -1 && errno == EAGAIN);
  }
  int got = 0;
  CHECK(raise(SIGPROF) == 0 && sigwait(&all, &got) == 0 && got == SIGPROF);
  const timespec wrong{0, -1};
  CHECK(sigtimedwait(&all, nullptr, &wrong) == -1 && errno == EINVAL);
}

// One after the other, all the time: none may be lost to a tick.
void raised(bool stay_blocked) {
  sigset_t all, old;
  sigfillset(&all);
  CHECK(pthread_sigmask(SIG_BLOCK, &all, &old) == 0);
  for (const double end = cpu_time() + 0.5; cpu_time() < end;) {
    int got = 0;
    CHECK(raise(SIGPROF) == 0 && sigwait(&all, &got) == 0 && got == SIGPROF);
    if (stay_blocked) continue;
    CHECK(pthread_sigmask(SIG_SETMASK, &old, nullptr) == 0);
    CHECK(pthread_sigmask(SIG_BLOCK, &all, nullptr) == 0);
  }
}
void raises() { raised(false); }
void raises_blocked() { raised(true); }

// A thread waits for what is sent to the process, which every thread blocks.
void* takes_ten(void*) {
  sigset_t all;
  sigfillset(&all);
  while (handled < 10) {
    int got = 0;
    CHECK(sigwait(&all, &got) == 0 && got == SIGPROF);
    count(got);
  }
  return nullptr;
}
void waited_for() {
  sigset_t all;
  sigfillset(&all);
  CHECK(pthread_sigmask(SIG_BLOCK, &all, nullptr) == 0);
  pthread_t thread;
  CHECK(pthread_create(&thread, nullptr, takes_ten, nullptr) == 0);
  for (int sent = 1; sent <= 10; ++sent) {
    CHECK(kill(getpid(), SIGPROF) == 0);
    while (handled < sent) sched_yield();
    burn_masked(0.03);
  }
  CHECK(pthread_join(thread, nullptr) == 0);
}

// Waits for SIGPROF as one does with sigsuspend.
void suspends() {
  sigset_t tick, none, old;
  sigemptyset(&none);
  sigemptyset(&tick);
  sigaddset(&tick, SIGPROF);
  CHECK(signal(SIGPROF, count) == SIG_DFL);
  CHECK(sigprocmask(SIG_BLOCK, &tick, &old) == 0);
  CHECK(raise(SIGPROF) == 0 && handled == 0);
  while (handled == 0) CHECK(sigsuspend(&none) == -1 && errno == EINTR);
  CHECK(handled == 1 && blocked_now(SIGPROF));
  CHECK(sigprocmask(SIG_SETMASK, &old, nullptr) == 0);
  burn(0.5);
}

// A thread born with everything blocked, and one that sees the mask of its maker.
void* born_masked(void*) {
  masks_right = masks_right && blocked_now(SIGPROF) && blocked_now(SIGINT);
  burn_masked(0.5);
  return nullptr;
}
void born() {
  sigset_t all, old;
  sigfillset(&all);
  CHECK(pthread_sigmask(SIG_SETMASK, &all, &old) == 0);
  pthread_t thread;
  CHECK(pthread_create(&thread, nullptr, born_masked, nullptr) == 0);
  CHECK(pthread_sigmask(SIG_SETMASK, &old, nullptr) == 0);
  CHECK(pthread_join(thread, nullptr) == 0 && masks_right);
}

// A program that is started sees the mask.
void spawns() {
  sigset_t tick;
  sigemptyset(&tick);
  sigaddset(&tick, SIGPROF);
  CHECK(pthread_sigmask(SIG_BLOCK, &tick, nullptr) == 0);
  burn_masked(0.3);
  char grep[] = "/bin/grep", quiet[] = "-q", blocked[] = "^SigBlk:.*4000000$",
       file[] = "/proc/self/status";
  char* const words[] = {grep, quiet, blocked, file, nullptr};
  for (const auto spawn : {posix_spawn, posix_spawnp}) {
    pid_t child = 0;
    int status = 0;
    CHECK(spawn(&child, grep, nullptr, nullptr, words, environ) == 0);
    CHECK(waitpid(child, &status, 0) == child && status == 0);
  }
}

// A SIGPROF nobody handles ends a program, a child of fork as well.
void unhandled() {
  const pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    burn(0.1);
    raise(SIGPROF);
    _exit(0);
  }
  int status = 0;
  CHECK(waitpid(child, &status, 0) == child && WIFSIGNALED(status) && WTERMSIG(status) == SIGPROF);
  burn(0.5);
  raise(SIGPROF);
}

// The kernel's struct sigaction.
struct KernelAction {
  void (*handler)(int);
  unsigned long flags;
  void* restorer;
  unsigned long mask;
};

// Calls the kernel by number, through libc.
void by_number() {
  KernelAction action{SIG_DFL, 0, nullptr, 0}, old{};
  const auto set = [&](const void* fresh, void* before) {
    return syscall(SYS_rt_sigaction, SIGPROF, fresh, before, sizeof action.mask);
  };
  CHECK(set(&action, &old) == 0 && old.handler == SIG_DFL);
  burn(0.2);  // a tick would end the program
  action.handler = SIG_IGN;
  CHECK(set(&action, nullptr) == 0 && set(nullptr, &old) == 0 && old.handler == SIG_IGN);
  CHECK(set(reinterpret_cast<void*>(8), nullptr) == -1 && errno == EFAULT);
  CHECK(set(nullptr, reinterpret_cast<void*>(8)) == -1 && errno == EFAULT);
  unsigned long all = ~0ul, before = 0;
  CHECK(syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, &before, sizeof all) == 0 && before == 0);
  CHECK(blocked_now(SIGPROF) && blocked_now(SIGINT));
  burn_masked(0.3);
  const timespec limit{0, 100'000};
  CHECK(syscall(SYS_rt_sigtimedwait, &all, nullptr, &limit, sizeof all) == -1 && errno == EAGAIN);
  CHECK(syscall(SYS_rt_sigprocmask, SIG_SETMASK, &before, &all, sizeof all) == 0);
  CHECK((all >> (SIGPROF - 1) & 1) == 1 && !blocked_now(SIGPROF));
}

// Goes round libc.
void raw() {
  burn(0.4);
  const KernelAction ignore{SIG_IGN, 0, nullptr, 0};
  long result;
  register long bytes asm("r10") = sizeof ignore.mask;
  asm volatile("syscall"
               : "=a"(result)
               : "a"(SYS_rt_sigaction), "D"(SIGPROF), "S"(&ignore), "d"(0), "r"(bytes)
               : "rcx", "r11", "memory");
  CHECK(result == 0);
  burn(0.1);
}

// A handler without SA_RESTART ends a read.
volatile bool is_reading = false;
void* sends_prof(void* reader) {
  while (handled == 0) {
    if (is_reading) pthread_kill(*static_cast<pthread_t*>(reader), SIGPROF);
    const timespec pause{0, 1'000'000};
    nanosleep(&pause, nullptr);
  }
  return nullptr;
}
void ends_reads() {
  struct sigaction action {};
  action.sa_handler = count;
  CHECK(sigaction(SIGPROF, &action, nullptr) == 0);
  int ends[2];
  CHECK(pipe(ends) == 0);
  pthread_t self = pthread_self(), sender;
  CHECK(pthread_create(&sender, nullptr, sends_prof, &self) == 0);
  char byte;
  is_reading = true;
  CHECK(read(ends[0], &byte, 1) == -1 && errno == EINTR);
  is_reading = false;
  CHECK(pthread_join(sender, nullptr) == 0);
  burn(0.3);
}

// A handler runs on the alternate stack only if its flags say so; a jump out of it is allowed.
char alternate[64 * 1024];
volatile bool was_on_alternate = false;
sigjmp_buf back;
void note_stack(int) {
  const char* here = static_cast<char*>(__builtin_frame_address(0));
  was_on_alternate = here >= alternate && here < alternate + sizeof alternate;
  handled = handled + 1;
}
void jump_out(int signal) {
  note_stack(signal);
  siglongjmp(back, 1);
}
void on_which_stack() {
  const stack_t stack{alternate, 0, sizeof alternate};
  CHECK(sigaltstack(&stack, nullptr) == 0);
  struct sigaction action {};
  for (const auto handler : {note_stack, jump_out})
    for (const int flags : {0, SA_ONSTACK, 0}) {
      action.sa_handler = handler;
      action.sa_flags = flags;
      CHECK(sigaction(SIGPROF, &action, nullptr) == 0);
      const int before = handled;
      if (sigsetjmp(back, 1) == 0) raise(SIGPROF);
      CHECK(handled == before + 1 && was_on_alternate == (flags == SA_ONSTACK));
      burn(0.1);
    }
}

}  // namespace

int main(int argc, char** argv) {
  const std::map<std::string, void (*)()> ways{{"own_handler", own_handler},
                                               {"family", family},
                                               {"own_timer", own_timer},
                                               {"blocked", blocked},
                                               {"waits", waits},
                                               {"raises", raises},
                                               {"raises_blocked", raises_blocked},
                                               {"waited_for", waited_for},
                                               {"suspends", suspends},
                                               {"born", born},
                                               {"spawns", spawns},
                                               {"unhandled", unhandled},
                                               {"by_number", by_number},
                                               {"ends_reads", ends_reads},
                                               {"on_which_stack", on_which_stack},
                                               {"raw", raw}};
  const auto way = ways.find(argc > 1 ? argv[1] : "");
  if (way == ways.end()) return 2;
  way->second();
  return 0;
}
