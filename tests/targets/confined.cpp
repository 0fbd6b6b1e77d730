// Computes, confines itself so that every system call but a few ends it, and computes on.
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <string>
#include <vector>

#include "tests/targets/burn.h"

extern "C" {
[[gnu::noinline]] void before_filter() { burn(0.1); }
[[gnu::noinline]] void after_probe() { burn(0.1); }
// Without a system call, which a filter may forbid. One that reads a CPU clock also ends the time
// slice of a thread between two ticks of the kernel, which then never meet it.
[[gnu::noinline]] void spin() {
  for (long i = 0; i < 500'000'000; ++i) asm volatile("");
}
[[gnu::noinline]] void before_filter_in_threads() { spin(); }
[[gnu::noinline]] void after_filter() { spin(); }
}

namespace {

std::atomic<bool> confined = false;
std::atomic<int> computing = 0;

std::vector<sock_filter> filter() {
  std::vector<sock_filter> code{
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
  };
  for (const unsigned allowed : {SYS_write, SYS_exit, SYS_exit_group, SYS_futex, SYS_madvise,
                                 SYS_munmap, SYS_mprotect, SYS_rt_sigprocmask}) {
    code.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, allowed, 0, 1));
    code.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
  }
  code.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS));
  return code;
}

bool confine(const std::string& way) {
  std::vector<sock_filter> code = filter();
  sock_fprog program{static_cast<unsigned short>(code.size()), code.data()};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return false;
  if (way == "prctl") return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
  if (way == "prctl-by-number")
    return syscall(SYS_prctl, PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
  if (way == "strict") return prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) == 0;
  const unsigned flags = way == "threads" ? SECCOMP_FILTER_FLAG_TSYNC : 0;
  return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program) == 0;
}

void say(const char* text, std::size_t length) {
  if (write(1, text, length) != static_cast<ssize_t>(length)) _exit(1);
}

void* compute(void*) {
  computing.fetch_add(1);
  while (!confined.load()) {
  }
  after_filter();
  return nullptr;
}

int in_threads() {
  pthread_t ids[3];
  for (pthread_t& id : ids)
    if (pthread_create(&id, nullptr, compute, nullptr) != 0) return 1;
  while (computing.load() < 3) {
  }
  before_filter_in_threads();
  if (!confine("threads")) return 77;
  confined.store(true);
  for (pthread_t& id : ids) pthread_join(id, nullptr);
  say("done\n", 5);
  return 0;
}

// Whether there are filters is asked like this; there is none afterwards.
int probe() {
  if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, nullptr) == 0) return 1;
  if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, nullptr) == 0) return 1;
  after_probe();
  return 0;
}

// The parent, whose memory a child of vfork shares, is not confined.
int in_child(bool shares_memory) {
  const pid_t child = shares_memory ? vfork() : fork();  // NOLINT
  if (child < 0) return 1;
  if (child == 0) _exit(confine("syscall") ? 0 : 77);  // NOLINT
  int status = 0;
  if (waitpid(child, &status, 0) != child || status != 0) return 3;
  after_probe();
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string way = argc > 1 ? argv[1] : "";
  if (way == "threads") return in_threads();
  before_filter();
  if (way == "probe") return probe();
  if (way == "fork" || way == "vfork") return in_child(way == "vfork");
  if (!confine(way)) return 77;
  after_filter();
  say("done\n", 5);
  // exit_group(2) is not in strict mode.
  if (way == "strict") syscall(SYS_exit, 0);
  return 0;
}
