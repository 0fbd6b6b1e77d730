// The collector owns SIGPROF; the program keeps seeing, and setting, an action of its own.
// Interposed: the functions that set signal actions, and raise(3). Any context once the originals
// are found; takes no lock.
#include "libcollector/program/sigaction.h"

#include <dlfcn.h>

#include <atomic>
#include <cerrno>
#include <cstring>

#include "libcollector/clock/clock_pause.h"
#include "libcollector/clock/program_action.h"
#include "libcollector/clock/threads.h"
#include "libcollector/core/readable.h"
#include "libcollector/core/signal_action.h"
#include "libcollector/hook/hook.h"
#include "libcollector/program/handler_masks.h"
#include "libcollector/program/signal_masks.h"
#include "libcollector/target/thread_slots.h"

namespace gnomon::collector {
namespace {

using Handler = void (*)(int);
using Act = int (*)(int, const struct sigaction*, struct sigaction*);
using Install = Handler (*)(int, Handler);
using Ignore = int (*)(int);
using Interrupt = int (*)(int, int);
using Raise = int (*)(int);

constinit std::atomic<bool> taken = false;

constinit NextSymbol<Act> real_sigaction{"sigaction", "GLIBC_2.2.5"};
constinit NextSymbol<Install> real_signal{"signal", "GLIBC_2.2.5"};
constinit NextSymbol<Install> real_sysv_signal{"sysv_signal", "GLIBC_2.2.5"};
constinit NextSymbol<Install> real_sigset{"sigset", "GLIBC_2.2.5"};
constinit NextSymbol<Ignore> real_sigignore{"sigignore", "GLIBC_2.2.5"};
constinit NextSymbol<Interrupt> real_siginterrupt{"siginterrupt", "GLIBC_2.2.5"};
constinit NextSymbol<Raise> real_raise{"raise", "GLIBC_2.2.5"};

// Returns false if *from cannot be read.
bool copy_from(const KernelAction* from, KernelAction& to) {
  const auto at = reinterpret_cast<std::uint64_t>(from);
  if (!can_be_read(at) || !can_be_read(at + sizeof to - sizeof to.mask)) return false;
  to = *from;
  return true;
}

bool is_inside_libc(Handler handler) {
  if (handler == SIG_DFL || handler == SIG_IGN) return false;
  Dl_info its{}, libcs{};
  return dladdr(reinterpret_cast<void*>(handler), &its) != 0 &&
         dladdr(reinterpret_cast<void*>(real_raise.get()), &libcs) != 0 &&
         its.dli_fbase == libcs.dli_fbase;
}

bool is_ours(int signal) { return signal == SIGPROF && taken; }

int act(int signal, const struct sigaction* fresh, struct sigaction* old) {
  if (is_ours(signal)) {
    exchange_program_action(fresh, old);
    return 0;
  }
  struct sigaction extended;
  const std::uint64_t added = added_masks();
  const int result = real_sigaction(signal, kernel_view(signal, fresh, extended), old);
  if (result == 0) program_view(signal, added, old);
  return result;
}

Handler exchange_handler(Handler handler, int flags, bool mask_itself) {
  struct sigaction fresh {
  }, old{};
  fresh.sa_handler = handler;
  fresh.sa_flags = flags;
  if (mask_itself) sigaddset(&fresh.sa_mask, SIGPROF);
  exchange_program_action(&fresh, &old);
  return old.sa_handler;
}

// signal(2): BSD semantics.
Handler install(int signal, Handler handler) {
  if (!is_ours(signal)) return real_signal(signal, handler);
  return exchange_handler(handler, SA_RESTART, true);
}

Handler install_once(int signal, Handler handler) {
  if (!is_ours(signal)) return real_sysv_signal(signal, handler);
  return exchange_handler(handler, static_cast<int>(SA_RESETHAND | SA_NODEFER), false);
}

// sigset(3): also changes the mask, and reports whether SIGPROF was in it.
Handler install_and_unblock(int signal, Handler handler) {
  if (!is_ours(signal)) return real_sigset(signal, handler);
  sigset_t tick, before;
  sigemptyset(&tick);
  sigaddset(&tick, SIGPROF);
  struct sigaction old {};
  exchange_program_action(nullptr, &old);
  if (handler != SIG_HOLD) exchange_handler(handler, 0, false);
  change_mask(handler == SIG_HOLD ? SIG_BLOCK : SIG_UNBLOCK, &tick, &before);
  return sigismember(&before, SIGPROF) == 1 ? SIG_HOLD : old.sa_handler;
}

}  // namespace

bool take_sigprof(void (*handler)(int, siginfo_t*, void*), bool on_alternate_stacks) {
  struct sigaction ours {
  }, before{};
  ours.sa_sigaction = handler;
  ours.sa_flags = SA_SIGINFO | SA_RESTART | (on_alternate_stacks ? SA_ONSTACK : 0);
  std::memset(&ours.sa_mask, 0xff, sizeof ours.sa_mask);
  if (real_sigaction(SIGPROF, nullptr, &before) != 0) return false;
  if (before.sa_sigaction == handler) return true;  // kept from an earlier session
  exchange_program_action(&before, nullptr);
  taken = real_sigaction(SIGPROF, &ours, nullptr) == 0;
  allow_mask_emulation(true);
  return taken;
}

// Ignoring a signal discards its pending instances (POSIX, "Signal Actions").
void discard_sigprof() {
  struct sigaction ignore {
  }, ours{};
  ignore.sa_handler = SIG_IGN;
  if (real_sigaction(SIGPROF, &ignore, &ours) == 0) real_sigaction(SIGPROF, &ours, nullptr);
}

bool give_sigprof_back(void (*handler)(int, siginfo_t*, void*), bool (*passed)(const void* data),
                       const void* data) {
  struct sigaction theirs {
  }, ours{}, ignore{}, before{};
  ignore.sa_handler = SIG_IGN;
  if (!has_sigprof(handler)) taken = false;  // set by a raw system call of the program's
  if (!taken) return true;
  exchange_program_action(nullptr, &theirs);
  const bool ends_program = theirs.sa_handler == SIG_DFL;
  real_sigaction(SIGPROF, ends_program ? &ignore : nullptr, &ours);
  if (!passed(data)) {
    real_sigaction(SIGPROF, &ours, nullptr);
    return false;
  }
  taken = false;
  exchange_program_action(nullptr, &theirs);
  real_sigaction(SIGPROF, &theirs, &before);
  if (before.sa_handler != (ends_program ? ignore : ours).sa_handler)
    real_sigaction(SIGPROF, &before,
                   nullptr);  // a raw system call of the program's has set it meanwhile
  return true;
}

bool has_sigprof(void (*handler)(int, siginfo_t*, void*)) {
  struct sigaction now {};
  return real_sigaction(SIGPROF, nullptr, &now) == 0 && now.sa_sigaction == handler;
}

bool is_sigprof_taken() { return taken; }

// Words of the program's that cannot be read or written are errors, as in the kernel.
long sigaction_by_number(long, int, const KernelAction* fresh, KernelAction* old,
                         std::size_t mask_bytes) {
  KernelAction wanted{};
  const auto fail = [](int error) {
    errno = error;
    return -1L;
  };
  if (mask_bytes != kSignalMaskBytes) return fail(EINVAL);
  if ((fresh && !copy_from(fresh, wanted)) ||
      (old && raw_syscall(SYS_rt_sigaction, SIGKILL, 0, arg(old), kSignalMaskBytes) != 0))
    return fail(EFAULT);
  struct sigaction action {
  }, before{};
  action.sa_handler = reinterpret_cast<Handler>(wanted.handler);
  action.sa_flags = static_cast<int>(wanted.flags);
  std::memcpy(&action.sa_mask, &wanted.mask, sizeof wanted.mask);
  exchange_program_action(fresh ? &action : nullptr, &before);
  if (!old) return 0;
  *old = {reinterpret_cast<std::uint64_t>(before.sa_handler),
          static_cast<std::uint32_t>(before.sa_flags),
          reinterpret_cast<std::uint64_t>(before.sa_restorer), 0};
  std::memcpy(&old->mask, &before.sa_mask, sizeof old->mask);
  return 0;
}

bool has_libc_set_sigprof() {
  struct sigaction theirs {};
  exchange_program_action(nullptr, &theirs);
  return taken && is_inside_libc(theirs.sa_handler);
}

SetInsideLibc::SetInsideLibc() {
  if (taken) real_sigaction(SIGPROF, nullptr, &ours_);
}

// When libc stops profil(3), it installs the action that it found when it began. If that was the
// collector's, the program has its own action from before profil(3) again.
SetInsideLibc::~SetInsideLibc() {
  static constinit struct sigaction before_libc {};
  struct sigaction now {
  }, theirs{};
  if (!ours_.sa_handler || real_sigaction(SIGPROF, nullptr, &now) != 0) return;
  exchange_program_action(nullptr, &theirs);
  const bool was_libcs = is_inside_libc(theirs.sa_handler);
  if (now.sa_handler == ours_.sa_handler) {
    if (was_libcs) exchange_program_action(&before_libc, nullptr);
    return;
  }
  if (is_inside_libc(now.sa_handler) && !was_libcs) before_libc = theirs;
  exchange_program_action(&now, nullptr);
  real_sigaction(SIGPROF, &ours_, nullptr);
}

extern "C" {

GNOMON_EXPORTED("sigaction", "2.2.5")
int gnomon_sigaction(int signal, const struct sigaction* fresh, struct sigaction* old) {
  return act(signal, fresh, old);
}
GNOMON_EXPORTED("__sigaction", "2.2.5")
int gnomon_sigaction_too(int signal, const struct sigaction* fresh, struct sigaction* old) {
  return act(signal, fresh, old);
}
GNOMON_EXPORTED("signal", "2.2.5")
Handler gnomon_signal(int signal, Handler handler) { return install(signal, handler); }
GNOMON_EXPORTED("bsd_signal", "2.2.5")
Handler gnomon_bsd_signal(int signal, Handler handler) { return install(signal, handler); }
GNOMON_EXPORTED("ssignal", "2.2.5")
Handler gnomon_ssignal(int signal, Handler handler) { return install(signal, handler); }
GNOMON_EXPORTED("sysv_signal", "2.2.5")
Handler gnomon_sysv_signal(int signal, Handler handler) { return install_once(signal, handler); }
GNOMON_EXPORTED("__sysv_signal", "2.2.5")
Handler gnomon_sysv_signal_too(int signal, Handler handler) {
  return install_once(signal, handler);
}
GNOMON_EXPORTED("sigset", "2.2.5")
Handler gnomon_sigset(int signal, Handler handler) { return install_and_unblock(signal, handler); }
GNOMON_EXPORTED("sigignore", "2.2.5")
int gnomon_sigignore(int signal) {
  if (!is_ours(signal)) return real_sigignore(signal);
  exchange_handler(SIG_IGN, 0, false);
  return 0;
}
GNOMON_EXPORTED("siginterrupt", "2.2.5")
int gnomon_siginterrupt(int signal, int interrupts) {
  if (!is_ours(signal)) return real_siginterrupt(signal, interrupts);
  struct sigaction theirs {};
  exchange_program_action(nullptr, &theirs);
  theirs.sa_flags = interrupts ? theirs.sa_flags & ~SA_RESTART : theirs.sa_flags | SA_RESTART;
  exchange_program_action(&theirs, nullptr);
  return 0;
}
GNOMON_EXPORTED("raise", "2.2.5")
int gnomon_raise(int signal) {
  Thread* thread = signal == SIGPROF ? calling_thread() : nullptr;
  if (!thread) return real_raise(signal);
  const Blocked blocked(kAllSignals);
  const ClockPause quiet(*thread);
  return real_raise(signal);
}
}

namespace {

GNOMON_HOOK(gnomon_sigaction, real_sigaction);
GNOMON_HOOK(gnomon_signal, real_signal);
GNOMON_HOOK(gnomon_sysv_signal, real_sysv_signal);
GNOMON_HOOK(gnomon_sigset, real_sigset);
GNOMON_HOOK(gnomon_sigignore, real_sigignore);
GNOMON_HOOK(gnomon_siginterrupt, real_siginterrupt);
GNOMON_HOOK(gnomon_raise, real_raise);

}  // namespace

}  // namespace gnomon::collector
