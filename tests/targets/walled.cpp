// Sets a filter that lets through what it needs itself, then allocates, locks and reads. A system
// call that is not its own ends it and is named. Argument: prctl, or inline (nothing of libc's sees
// the filter come). Second argument: how often it does all that. Prints "right" at the end.
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <csignal>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <vector>

namespace {

constexpr int kForeignCall = 31, kNoFilter = 77;

// Behind the filter a call of libc's could be traced.
long call(long number, long a = 0, long b = 0, long c = 0) {
  register long fourth asm("r10") = 0;
  register long fifth asm("r8") = 0;
  asm volatile("syscall"
               : "+a"(number)
               : "D"(a), "S"(b), "d"(c), "r"(fourth), "r"(fifth)
               : "rcx", "r11", "memory");
  return number;
}

void names_it(int, siginfo_t* info, void*) {
  char text[64];
  const int length = std::snprintf(text, sizeof text, "system call %d\n", info->si_syscall);
  call(SYS_write, 1, reinterpret_cast<long>(text), length);
  call(SYS_exit_group, kForeignCall);
}

bool confine(bool is_inline) {
  std::vector<sock_filter> code{BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr))};
  for (const unsigned own : {SYS_read, SYS_write, SYS_exit_group, SYS_brk, SYS_mmap, SYS_munmap,
                             SYS_futex, SYS_rt_sigreturn}) {
    code.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, own, 0, 1));
    code.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
  }
  code.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP));
  sock_fprog program{static_cast<unsigned short>(code.size()), code.data()};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return false;
  return is_inline ? call(SYS_prctl, PR_SET_SECCOMP, SECCOMP_MODE_FILTER,
                          reinterpret_cast<long>(&program)) == 0
                   : prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

void works(int zero, int times) {
  static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  char bytes[64];
  for (int i = 0; i < times; ++i) {
    if (read(zero, bytes, sizeof bytes) != sizeof bytes) call(SYS_exit_group, 3);
    void* block = std::malloc(50);
    asm volatile("" : "+r"(block));
    std::free(block);
    pthread_mutex_lock(&lock);
    pthread_mutex_unlock(&lock);
  }
}

}  // namespace

int main(int argc, char** argv) {
  struct sigaction action {};
  action.sa_sigaction = names_it;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGSYS, &action, nullptr);
  const bool is_inline = argc > 1 && std::strcmp(argv[1], "inline") == 0;
  const int zero = open("/dev/zero", O_RDONLY);
  // Both from one place: the second time no call stack is new.
  for (const bool is_second : {false, true}) {
    if (is_second && !confine(is_inline)) return kNoFilter;
    works(zero, !is_second ? 10 : argc > 2 ? std::atoi(argv[2]) : 0);
  }
  call(SYS_write, 1, reinterpret_cast<long>("right\n"), 6);
  call(SYS_exit_group, 0);
}
