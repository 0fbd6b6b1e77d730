// Signal handlers that work, nest, stand on small stacks of their own, and are left by a jump.
#include <fcntl.h>
#include <semaphore.h>
#include <sys/time.h>
#include <unistd.h>

#include <cerrno>
#include <csetjmp>
#include <csignal>
#include <cstdint>
#include <cstdlib>

#include "tests/targets/hostile/rows.h"

namespace hostile {
namespace {

sigjmp_buf back;
volatile sig_atomic_t handled = 0, deepest = 0, depth = 0;

void begin_timer(long microseconds) {
  const itimerval each{{0, microseconds}, {0, microseconds}};
  setitimer(ITIMER_REAL, &each, nullptr);
}

void handle(int signal, void (*handler)(int), int flags) {
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = flags;
  sigaction(signal, &action, nullptr);
}

void spin_until(int count) {
  while (handled < count) asm volatile("" ::: "memory");
}

void works(int) {
  const int error = errno;
  work(5);
  handled = handled + 1;
  errno = error;
}

// The code that they interrupt makes no call, so they may make any.
void handlers_that_work(Findings& findings) {
  handled = 0;
  handle(SIGALRM, works, SA_RESTART);
  begin_timer(500);
  spin_until(30);
  begin_timer(0);
  handle(SIGALRM, SIG_IGN, 0);
  find(findings, "handled at least 30", handled >= 30);
}

void nests(int signal) {
  depth = depth + 1;
  if (depth > deepest) deepest = depth;
  work(2);
  if (depth < 6) raise(signal);
  depth = depth - 1;
}

void nested_handlers(Findings& findings) {
  deepest = 0;
  handle(SIGUSR1, nests, SA_NODEFER);
  for (int i = 0; i < 10; ++i) raise(SIGUSR1);
  find(findings, "deepest handler", deepest);
}

void handlers_on_a_stack(Findings& findings) {
  const std::size_t size = static_cast<std::size_t>(sysconf(_SC_SIGSTKSZ));
  const stack_t own{std::malloc(size), 0, size};
  stack_t before{};
  sigaltstack(&own, &before);
  handled = 0;
  handle(SIGALRM, works, SA_ONSTACK);
  begin_timer(700);
  spin_until(20);
  begin_timer(0);
  stack_t now{};
  sigaltstack(nullptr, &now);
  find(findings, "the stack is ours", now.ss_sp == own.ss_sp && now.ss_size == size);
  handle(SIGALRM, SIG_IGN, 0);
  sigaltstack(&before, nullptr);
  std::free(own.ss_sp);
}

void jumps(int) { siglongjmp(back, 1); }

// Waits for ever; returns when a handler has left that.
[[gnu::noinline]] void wait_for_ever(int file, sem_t* semaphore) {
  if (sigsetjmp(back, 1) != 0) return;
  const itimerval once{{0, 0}, {0, 1500}};
  setitimer(ITIMER_REAL, &once, nullptr);
  char byte = 0;
  if (semaphore)
    while (sem_wait(semaphore) != 0) {
    }
  else
    while (read(file, &byte, 1) != 1) {
    }
  _exit(92);
}

void jumps_out(Findings& findings) {
  int ends[2];
  if (pipe(ends) != 0) _exit(91);
  sem_t nothing;
  sem_init(&nothing, 0, 0);
  handle(SIGALRM, jumps, 0);
  for (int i = 0; i < 12; ++i) {
    wait_for_ever(ends[0], i % 2 == 0 ? nullptr : &nothing);
    work(5);
  }
  handle(SIGALRM, SIG_IGN, 0);
  find(findings, "a byte is waiting", write(ends[1], "x", 1));
  close(ends[0]);
  close(ends[1]);
}

volatile std::uintptr_t bad = 16;

// Returns true if that place in memory is not there.
[[gnu::noinline]] bool is_missing() {
  if (sigsetjmp(back, 1) != 0) return true;
  *reinterpret_cast<volatile int*>(bad) = 1;
  return false;
}

// As runtimes do that check for null by the processor's fault.
void faults(Findings& findings) {
  handle(SIGSEGV, jumps, SA_NODEFER);
  long met = 0;
  for (int i = 0; i < 50; ++i) {
    met += is_missing();
    work(2);
  }
  handle(SIGSEGV, SIG_DFL, 0);
  find(findings, "faults", met);
}

void count_one(int, siginfo_t* info, void*) { handled = handled + info->si_value.sival_int; }

void queued(Findings& findings) {
  handled = 0;
  struct sigaction action {};
  action.sa_sigaction = count_one;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGRTMIN, &action, nullptr);
  sigset_t set, before;
  sigemptyset(&set);
  sigaddset(&set, SIGRTMIN);
  sigprocmask(SIG_BLOCK, &set, &before);
  for (int i = 1; i <= 20; ++i) sigqueue(getpid(), SIGRTMIN, {i});
  work(20);
  sigprocmask(SIG_SETMASK, &before, nullptr);
  find(findings, "sum of queued signals", handled);
}

constexpr Row kRows[] = {{"handlers", handlers_that_work},
                         {"nested_handlers", nested_handlers},
                         {"alternate_stack", handlers_on_a_stack},
                         {"jumps", jumps_out},
                         {"faults", faults},
                         {"queued", queued}};

}  // namespace

std::span<const Row> rows_of_handlers() { return kRows; }

}  // namespace hostile
