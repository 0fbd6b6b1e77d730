// Interposed: libc's statistical profiler, profil(3) and what `gcc -pg` builds on it. It sets
// SIGPROF's action inside libc, where no hook sees it; its own ticks keep reaching it as the
// program's. Normal context.
#include "libcollector/program/profil.h"

#include <dlfcn.h>
#include <sys/profil.h>
#include <sys/time.h>

#include "libcollector/core/kernel_threads.h"
#include "libcollector/core/syscall.h"
#include "libcollector/core/time.h"
#include "libcollector/hook/hook.h"
#include "libcollector/program/sigaction.h"

namespace gnomon::collector {
namespace {

using Profil = int (*)(unsigned short*, std::size_t, std::size_t, unsigned);
using Sprofil = int (*)(struct prof*, int, timeval*, unsigned);
using Start = void (*)(unsigned long, unsigned long);
using Control = void (*)(int);
using Cleanup = void (*)();

constinit NextSymbol<Profil> real_profil{"profil", "GLIBC_2.2.5"};
constinit NextSymbol<Sprofil> real_sprofil{"sprofil", "GLIBC_2.2.5"};
constinit NextSymbol<Start> real_start{"__monstartup", "GLIBC_2.2.5"};
constinit NextSymbol<Control> real_control{"moncontrol", "GLIBC_2.2.5"};
constinit NextSymbol<Cleanup> real_cleanup{"_mcleanup", "GLIBC_2.2.5"};

template <typename Function, typename... Arguments>
auto call(NextSymbol<Function>& real, Arguments... arguments) {
  const SetInsideLibc around;
  return real(arguments...);
}

// Returns true if the program is built with -pg, so that moncontrol(3) stops and restarts
// profil(3).
bool is_for_gprof() { return dlsym(RTLD_DEFAULT, "__gmon_start__") != nullptr; }

bool is_pending() {
  const Pending pending = pending_sigprof();
  return pending.at_thread || pending.at_process;
}

// Stops the timer of profil(3) and waits for its last signal, which must not meet SIG_DFL.
void silence_profil() {
  constexpr std::uint64_t kPatience = 100'000'000;  // ns
  const itimerval never{};
  raw_syscall(SYS_setitimer, ITIMER_PROF, arg(&never));
  const std::uint64_t limit = now(CLOCK_MONOTONIC) + kPatience;
  while (is_pending() && now(CLOCK_MONOTONIC) < limit) raw_syscall(SYS_sched_yield);
}

}  // namespace

bool let_profil_come_after() {
  if (!has_libc_set_sigprof()) return true;
  const bool stopped = stop_profil();
  if (stopped) restart_profil();
  return stopped;
}

bool stop_profil() {
  if (!has_libc_set_sigprof() || !is_for_gprof()) return false;
  silence_profil();
  call(real_control, 0);
  return true;
}

void restart_profil() { call(real_control, 1); }

extern "C" {

GNOMON_EXPORTED("profil", "2.2.5")
int gnomon_profil(unsigned short* buffer, std::size_t size, std::size_t offset, unsigned scale) {
  return call(real_profil, buffer, size, offset, scale);
}
GNOMON_EXPORTED("sprofil", "2.2.5")
int gnomon_sprofil(struct prof* areas, int count, timeval* period, unsigned flags) {
  return call(real_sprofil, areas, count, period, flags);
}
GNOMON_EXPORTED("__monstartup", "2.2.5")
void gnomon_monstartup(unsigned long low, unsigned long high) { call(real_start, low, high); }
GNOMON_EXPORTED("monstartup", "2.2.5")
void gnomon_monstartup_too(unsigned long low, unsigned long high) { call(real_start, low, high); }
GNOMON_EXPORTED("moncontrol", "2.2.5")
void gnomon_moncontrol(int on) { call(real_control, on); }
GNOMON_EXPORTED("_mcleanup", "2.2.5")
void gnomon_mcleanup() { call(real_cleanup); }
}

namespace {

GNOMON_HOOK(gnomon_profil, real_profil);
GNOMON_HOOK(gnomon_sprofil, real_sprofil);
GNOMON_HOOK(gnomon_monstartup, real_start);
GNOMON_HOOK(gnomon_moncontrol, real_control);
GNOMON_HOOK(gnomon_mcleanup, real_cleanup);

}  // namespace

}  // namespace gnomon::collector
