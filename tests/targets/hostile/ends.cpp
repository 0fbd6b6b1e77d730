// Ways to end, beside threads that are in the middle of traced calls; and filters of system calls,
// after which a program only ends.
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <thread>

#include "tests/targets/hostile/rows.h"

namespace hostile {
namespace {

void begin_others() {
  constexpr int kOthers = 6;
  static std::atomic<int> begun = 0;
  for (int i = 0; i < kOthers; ++i)
    std::thread([] {
      work(10);
      for (++begun;;) work(100);
    }).detach();
  while (begun < kOthers) work(100);
}

// The findings would be printed by main() alone.
void say(const char* text) {
  std::fputs(text, stdout);
  std::fflush(stdout);
}

void returns(Findings&) { begin_others(); }

void exits(Findings&) {
  begin_others();
  std::atexit([] {
    work(100);
    say("at the exit\n");
  });
  std::exit(3);
}

void exits_in_a_thread(Findings&) {
  begin_others();
  std::thread([] { std::exit(4); }).join();
}

void exits_at_once(Findings&) {
  begin_others();
  say("at once\n");
  _exit(5);
}

void exits_quickly(Findings&) {
  begin_others();
  std::at_quick_exit([] { say("quickly\n"); });
  std::quick_exit(6);
}

void aborts(Findings&) {
  begin_others();
  std::abort();
}

void dies(Findings&) {
  begin_others();
  raise(SIGSEGV);
}

void is_killed(Findings&) {
  begin_others();
  kill(getpid(), SIGKILL);
}

void exits_in_a_handler(Findings&) {
  begin_others();
  std::signal(SIGALRM, [](int) { _exit(7); });
  ualarm(20'000, 0);
  for (;;) work(100);
}

void main_thread_leaves(Findings&) {
  std::thread([] {
    work(3000);
    std::exit(8);
  }).detach();
  pthread_exit(nullptr);
}

void executes_another(Findings&) {
  begin_others();
  execl("/bin/sh", "sh", "-c", "echo another; exit 9", nullptr);
}

void executes_nothing_first(Findings&) {
  begin_others();
  for (int i = 0; i < 20; ++i) execl("/no/such/program", "none", nullptr);
  work(100);
  std::thread([] { execl("/bin/sh", "sh", "-c", "echo by a thread; exit 10", nullptr); }).join();
}

constexpr int kFiltered = 1000;
void confines_itself(bool by_number) {
  const sock_filter code[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
                              BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_read, 8, 0),
                              BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_write, 7, 0),
                              BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_pread64, 6, 0),
                              BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_futex, 5, 0),
                              BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_brk, 4, 0),
                              BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 3, 0),
                              BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_close, 2, 0),
                              BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 1, 0),
                              BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
                              BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  const sock_fprog program{std::size(code), const_cast<sock_filter*>(code)};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) _exit(91);
  const long result =
      by_number ? syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program)
                : prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
  if (result != 0) _exit(77);
  for (int i = 0; i < kFiltered; ++i) work(10);
  if (write(STDOUT_FILENO, "confined\n", 9) != 9) _exit(92);
  _exit(11);
}

void filtered(Findings&) {
  work(1000);
  confines_itself(false);
}

void filtered_with_threads(Findings&) {
  begin_others();
  confines_itself(true);
}

constexpr Row kRows[] = {{"returns", returns, true},
                         {"exits", exits, true},
                         {"exits_in_a_thread", exits_in_a_thread, true},
                         {"exits_at_once", exits_at_once, true},
                         {"exits_quickly", exits_quickly, true},
                         {"aborts", aborts, true},
                         {"dies", dies, true},
                         {"is_killed", is_killed, true},
                         {"exits_in_a_handler", exits_in_a_handler, true},
                         {"main_thread_leaves", main_thread_leaves, true},
                         {"executes_another", executes_another, true},
                         {"executes_nothing_first", executes_nothing_first, true},
                         {"filtered", filtered, true},
                         {"filtered_with_threads", filtered_with_threads, true}};

}  // namespace

std::span<const Row> rows_of_ends() { return kRows; }

}  // namespace hostile
