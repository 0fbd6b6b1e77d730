// Interposed: prctl and syscall, by which a program sets a seccomp filter, and calls by number what
// is interposed by name. Any context that the call itself allows, once the originals are found.
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <cstdarg>
#include <cstddef>

#include "libcollector/core/readable.h"
#include "libcollector/hook/hook.h"
#include "libcollector/program/children.h"
#include "libcollector/program/exec.h"
#include "libcollector/program/jump_after.h"
#include "libcollector/program/sigaction.h"
#include "libcollector/program/signal_masks.h"
#include "libcollector/target/confinement.h"
#include "libcollector/trace/futex.h"
#include "libcollector/trace/trace.h"

namespace gnomon::collector {
namespace {

using Control = int (*)(int, unsigned long, unsigned long, unsigned long, unsigned long);
using Any = long (*)(long, ...);

constinit NextSymbol<Control> real_prctl{"prctl", "GLIBC_2.2.5"};
constinit NextSymbol<Any> real_syscall{"syscall", "GLIBC_2.2.5"};

// A filter without a program only asks whether filters are supported.
void before_prctl(unsigned long option, unsigned long mode, unsigned long program) {
  if (option == PR_SET_SECCOMP &&
      (mode == SECCOMP_MODE_STRICT || (mode == SECCOMP_MODE_FILTER && program != 0)))
    before_confinement();
}

void before_seccomp(unsigned long operation, unsigned long program) {
  if (operation == SECCOMP_SET_MODE_STRICT ||
      (operation == SECCOMP_SET_MODE_FILTER && program != 0))
    before_confinement();
}

void before_clone3(unsigned long arguments) {
  if (!is_tracing() || !can_be_read(arguments + offsetof(clone_args, flags)) ||
      !can_be_read(arguments + offsetof(clone_args, stack)))
    return;
  const auto& args = *reinterpret_cast<const clone_args*>(arguments);
  before_clone(args.flags, args.stack == 0);
}

Any any(auto* function) { return reinterpret_cast<Any>(reinterpret_cast<void*>(function)); }

}  // namespace

// Returns the function to which the call continues, with the same arguments.
extern "C" [[gnu::used, gnu::visibility("hidden")]] Any gnomon_before_syscall(long number,
                                                                              unsigned long a,
                                                                              unsigned long b,
                                                                              unsigned long c) {
  switch (number) {
    case SYS_prctl:
      before_prctl(a, b, c);
      break;
    case SYS_seccomp:
      before_seccomp(a, c);
      break;
    case SYS_futex:
      if (Any traced = traced_futex(real_syscall.get(), a, b)) return traced;
      break;
    case SYS_vfork:
      before_clone(CLONE_VM | CLONE_VFORK, true);
      break;
    case SYS_clone:  // a child without a stack of its own goes on with its parent's
      before_clone(a, b == 0);
      break;
    case SYS_clone3:
      before_clone3(a);
      break;
    case SYS_execve:
      return any(execve_by_number);
    case SYS_execveat:
      return any(execveat_by_number);
    case SYS_rt_sigaction:
      if (is_sigprof_taken() && a == SIGPROF) return any(sigaction_by_number);
      break;
    case SYS_rt_sigprocmask:
      return any(mask_by_number);
    case SYS_rt_sigtimedwait:
      return any(timed_wait_by_number);
  }
  return real_syscall.get();
}

extern "C" {

__attribute__((naked, visibility("default"), symver("syscall@@GLIBC_2.2.5"))) long gnomon_syscall(
    long, ...) {
  GNOMON_JUMP_AFTER("gnomon_before_syscall");
}

__attribute__((visibility("default"), symver("prctl@@GLIBC_2.2.5"))) int gnomon_prctl(int option,
                                                                                      ...) {
  va_list list;
  va_start(list, option);
  unsigned long words[4];
  for (unsigned long& word : words) word = va_arg(list, unsigned long);
  va_end(list);
  before_prctl(static_cast<unsigned long>(option), words[0], words[1]);
  return real_prctl(option, words[0], words[1], words[2], words[3]);
}
}

namespace {

GNOMON_HOOK(gnomon_syscall, real_syscall);
GNOMON_HOOK(gnomon_prctl, real_prctl);

}  // namespace

}  // namespace gnomon::collector
