// Tries system calls in a child process, to learn what this process's seccomp filters allow. Any
// thread.
#include "injector/attach/checks/seccomp_trial.h"

#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace gnomon::injector {
namespace {

using Verdicts = std::array<std::uint32_t, kNeededCalls.size()>;

// Returns true for calls that the child makes anyway, and for those that would not return.
bool goes_without_saying(int number) {
  switch (number) {
    case SYS_clone:
    case SYS_clone3:
    case SYS_exit:
    case SYS_rt_sigreturn:
    case SYS_sched_yield:
    case SYS_set_robust_list:
    case SYS_rseq:
      return true;
    default:
      return false;
  }
}

// Replaces addresses and descriptors by invalid ones: the kernel rejects those only after the
// filter has run.
std::uint64_t harmless(std::uint64_t argument) {
  switch (argument) {
    case kAddress:
      return 8;
    case kFile:
      return 0x7fff'ffff;
    case kItself:
      return static_cast<std::uint64_t>(getpid());
    default:
      return argument;
  }
}

std::uint32_t verdict_on(const NeededCall& call) {
  std::array<std::uint64_t, 6> words{};
  for (std::size_t i = 0; i < words.size(); ++i) words[i] = harmless(call.arguments[i]);
  errno = 0;
  syscall(call.number, words[0], words[1], words[2], words[3], words[4], words[5]);
  const bool refused = errno == EPERM || errno == EACCES || errno == ENOSYS;
  return refused ? SECCOMP_RET_ERRNO | static_cast<std::uint32_t>(errno) : SECCOMP_RET_ALLOW;
}

[[noreturn]] void child(Verdicts& verdicts) {
  prctl(PR_SET_DUMPABLE, 0);
  for (std::size_t i = 0; i < verdicts.size(); ++i)
    verdicts[i] = goes_without_saying(kNeededCalls[i].number) ? SECCOMP_RET_ALLOW
                                                              : verdict_on(kNeededCalls[i]);
  _exit(0);
}

}  // namespace

// The child shares only the verdicts. A call without a verdict has ended it.
std::optional<Verdicts> try_needed_calls() {
  void* const memory =
      mmap(nullptr, sizeof(Verdicts), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return std::nullopt;
  Verdicts& shared = *static_cast<Verdicts*>(memory);
  shared.fill(SECCOMP_RET_KILL_PROCESS);
  const pid_t pid = fork();
  if (pid == 0) child(shared);
  std::optional<Verdicts> found;
  if (pid > 0) {
    // Where SIGCHLD is ignored, waitpid still returns only after the child has ended.
    while (waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
    }
    found = shared;
  }
  munmap(memory, sizeof(Verdicts));
  return found;
}

}  // namespace gnomon::injector
