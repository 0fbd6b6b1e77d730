// Interposed: the exec functions. The executed program inherits the SIGPROF action and mask that
// the program has in its own view, and no pending tick, which would end it. Normal context, fork
// and vfork children.
#include "libcollector/program/exec.h"

#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdint>

#include "libcollector/clock/program_action.h"
#include "libcollector/clock/thread_clock.h"
#include "libcollector/core/signal_action.h"
#include "libcollector/core/syscall.h"
#include "libcollector/hook/hook.h"
#include "libcollector/target/recording.h"

namespace gnomon::collector {
namespace {

using Words = char* const*;
using Execve = int (*)(const char*, Words, Words);
using Execv = int (*)(const char*, Words);
using Fexecve = int (*)(int, Words, Words);
using Execveat = int (*)(int, const char*, Words, Words, int);

using Execl = int (*)(const char*, const char*, ...);

constinit NextSymbol<Execve> real_execve{"execve", "GLIBC_2.2.5"};
constinit NextSymbol<Execv> real_execv{"execv", "GLIBC_2.2.5"};
constinit NextSymbol<Execv> real_execvp{"execvp", "GLIBC_2.2.5"};
constinit NextSymbol<Execve> real_execvpe{"execvpe", "GLIBC_2.11"};
constinit NextSymbol<Fexecve> real_fexecve{"fexecve", "GLIBC_2.2.5"};
constinit NextSymbol<Execveat> real_execveat{"execveat", "GLIBC_2.34"};
constinit NextSymbol<Execl> real_execl{"execl", "GLIBC_2.2.5"};
constinit NextSymbol<Execl> real_execlp{"execlp", "GLIBC_2.2.5"};
constinit NextSymbol<Execl> real_execle{"execle", "GLIBC_2.2.5"};

constexpr std::uint64_t kSigprof = signal_bit(SIGPROF);

// During its lifetime the control page says that another program may take the process over.
class Replacing {
 public:
  Replacing() : control_(own_control()) {
    add(1);
    if (control_) take_sample(*own_recorder, format::SampleEvent::exec);
  }
  ~Replacing() { add(~0u); }
  Replacing(const Replacing&) = delete;
  Replacing& operator=(const Replacing&) = delete;

 private:
  void add(std::uint32_t count) {
    if (control_) std::atomic_ref(control_->replacing).fetch_add(count);
  }

  format::ControlPage* control_;
};

// During its lifetime the kernel has SIGPROF's action and mask as the program sees them.
class Handover {
 public:
  Handover() : thread_(current_thread) {
    if (!thread_) return;
    // A child has no clock: the slot it sees is its parent's.
    ticked_ =
        active_recorder() && thread_->ticking && raw_syscall(SYS_gettid) == long{thread_->tid};
    if (ticked_) stop_clock(*thread_);
    // Unblocked first, so that a pending tick is consumed and a SIGPROF of somebody else's is kept.
    if (thread_->mask_emulated) {
      change_mask(SIG_UNBLOCK, kSigprof, &before_);
      change_mask(SIG_BLOCK, kSigprof, nullptr);
    }
    struct sigaction theirs;
    exchange_program_action(nullptr, &theirs);
    ignored_ = theirs.sa_handler == SIG_IGN;
    const KernelAction ignore{reinterpret_cast<std::uint64_t>(SIG_IGN), 0, 0, 0};
    if (ignored_) ours_ = exchange_kernel_action(SIGPROF, ignore);
  }
  // Reached only if the exec failed.
  ~Handover() {
    if (!thread_) return;
    if (ignored_) exchange_kernel_action(SIGPROF, ours_);
    if (thread_->mask_emulated) change_mask(SIG_SETMASK, before_, nullptr);
    if (ticked_) start_clock(*thread_);
  }
  Handover(const Handover&) = delete;
  Handover& operator=(const Handover&) = delete;

 private:
  static void change_mask(int how, std::uint64_t signals, std::uint64_t* before) {
    raw_syscall(SYS_rt_sigprocmask, how, arg(&signals), arg(before), kSignalMaskBytes);
  }

  Thread* thread_;
  std::uint64_t before_ = 0;
  bool ticked_ = false, ignored_ = false;
  KernelAction ours_{};
};

template <typename Function, typename... Arguments>
int execute(NextSymbol<Function>& real, Arguments... arguments) {
  const Function original = real.get();
  if (!original) {
    errno = ENOSYS;
    return -1;
  }
  const Replacing replacing;
  const Handover handover;
  return original(arguments...);
}

// Calls run(words, list) with the variadic words of a call as an array, and what follows them. The
// array is on the stack, because in a fork child another thread may have held the heap's lock.
template <typename Run>
int with_words(const char* first, va_list list, Run run) {
  std::size_t count = 1;
  va_list counted;
  va_copy(counted, list);
  while (va_arg(counted, char*)) ++count;
  va_end(counted);
  auto** words = static_cast<char**>(__builtin_alloca((count + 1) * sizeof(char*)));
  words[0] = const_cast<char*>(first);
  for (std::size_t i = 1; i <= count; ++i) words[i] = va_arg(list, char*);
  return run(Words{words}, list);
}

int execute_words(NextSymbol<Execv>& real, const char* path, const char* first, va_list list) {
  return with_words(first, list, [&](Words words, va_list) { return execute(real, path, words); });
}

}  // namespace

long execve_by_number(long, const char* path, Words argv, Words envp) {
  return execute(real_execve, path, argv, envp);
}
long execveat_by_number(long, int at, const char* path, Words argv, Words envp, int flags) {
  return execute(real_execveat, at, path, argv, envp, flags);
}

extern "C" {

GNOMON_EXPORTED("execve", "2.2.5") int gnomon_execve(const char* path, Words argv, Words envp) {
  return execute(real_execve, path, argv, envp);
}
GNOMON_EXPORTED("execv", "2.2.5") int gnomon_execv(const char* path, Words argv) {
  return execute(real_execv, path, argv);
}
GNOMON_EXPORTED("execvp", "2.2.5") int gnomon_execvp(const char* file, Words argv) {
  return execute(real_execvp, file, argv);
}
GNOMON_EXPORTED("execvpe", "2.11") int gnomon_execvpe(const char* file, Words argv, Words envp) {
  return execute(real_execvpe, file, argv, envp);
}
GNOMON_EXPORTED("fexecve", "2.2.5") int gnomon_fexecve(int file, Words argv, Words envp) {
  return execute(real_fexecve, file, argv, envp);
}
GNOMON_EXPORTED("execveat", "2.34")
int gnomon_execveat(int at, const char* path, Words argv, Words envp, int flags) {
  return execute(real_execveat, at, path, argv, envp, flags);
}
GNOMON_EXPORTED("execl", "2.2.5") int gnomon_execl(const char* path, const char* first, ...) {
  va_list list;
  va_start(list, first);
  const int result = execute_words(real_execv, path, first, list);
  va_end(list);
  return result;
}
GNOMON_EXPORTED("execlp", "2.2.5") int gnomon_execlp(const char* file, const char* first, ...) {
  va_list list;
  va_start(list, first);
  const int result = execute_words(real_execvp, file, first, list);
  va_end(list);
  return result;
}
GNOMON_EXPORTED("execle", "2.2.5") int gnomon_execle(const char* path, const char* first, ...) {
  va_list list;
  va_start(list, first);
  const int result = with_words(first, list, [&](Words words, va_list rest) {
    return execute(real_execve, path, words, va_arg(rest, Words));
  });
  va_end(list);
  return result;
}
}

namespace {

GNOMON_HOOK(gnomon_execve, real_execve);
GNOMON_HOOK(gnomon_execv, real_execv);
GNOMON_HOOK(gnomon_execvp, real_execvp);
GNOMON_HOOK(gnomon_execvpe, real_execvpe);
GNOMON_HOOK(gnomon_fexecve, real_fexecve);
GNOMON_HOOK(gnomon_execveat, real_execveat);
GNOMON_HOOK(gnomon_execl, real_execl);
GNOMON_HOOK(gnomon_execlp, real_execlp);
GNOMON_HOOK(gnomon_execle, real_execle);

}  // namespace

}  // namespace gnomon::collector
