// Lists and awaits the threads of this process by /proc. Normal context: raw system calls.
#include "libcollector/core/kernel_threads.h"

#include <dirent.h>
#include <fcntl.h>

#include "libcollector/core/proc_status.h"
#include "libcollector/core/signal_action.h"
#include "libcollector/core/syscall.h"
#include "libcollector/core/time.h"

namespace gnomon::collector {
namespace {

// Returns the state letter of proc_pid_status(5), or '\0' if the thread has ended.
char state_of(std::uint32_t tid) {
  ProcStatus status;
  const char* state = status.read(tid) ? status.find("State") : nullptr;
  return state ? *state : '\0';
}

struct Wait {
  bool (*is_exempt)(std::uint32_t tid, const void* data);
  const void* data;
  std::uint32_t own;
  std::uint64_t limit;  // CLOCK_MONOTONIC, ns
  bool is_in_time;
};

// A thread resumed by its tracer handles the pending signal before it returns to user code or
// sleeps.
void await(std::uint32_t tid, void* data) {
  constexpr std::uint64_t kEnough = 100'000;  // ns of CPU time
  auto& wait = *static_cast<Wait*>(data);
  if (tid == wait.own || wait.is_exempt(tid, wait.data)) return;
  const clockid_t clock = cpu_clock_of(tid);
  std::uint64_t held_until = now(clock);
  for (char state; wait.is_in_time; raw_syscall(SYS_sched_yield)) {
    state = state_of(tid);
    if (state == 't')
      held_until = now(clock);
    else if (state != 'R' || now(clock) > held_until + kEnough)
      return;
    wait.is_in_time = now(CLOCK_MONOTONIC) < wait.limit;
  }
}

}  // namespace

bool visit_tasks(void (*visit)(std::uint32_t tid, void* data), void* data) {
  const long folder =
      raw_syscall(SYS_openat, AT_FDCWD, arg("/proc/self/task"), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return false;
  alignas(dirent64) char entries[4096] = {};
  for (long n; (n = raw_syscall(SYS_getdents64, folder, arg(entries), sizeof entries)) > 0;)
    for (long at = 0; at < n;) {
      const auto& entry = *reinterpret_cast<const dirent64*>(entries + at);
      std::uint32_t tid = 0;
      for (const char* c = entry.d_name; *c >= '0' && *c <= '9'; ++c)
        tid = tid * 10 + static_cast<std::uint32_t>(*c - '0');
      if (tid != 0) visit(tid, data);
      at += entry.d_reclen;
    }
  raw_syscall(SYS_close, folder);
  return true;
}

Pending pending_sigprof() {
  Pending found{};
  visit_tasks(
      [](std::uint32_t tid, void* data) {
        ProcStatus status;
        if (!status.read(tid)) return;
        constexpr std::uint64_t kSigprof = signal_bit(SIGPROF);
        auto& [at_thread, at_process] = *static_cast<Pending*>(data);
        at_thread = at_thread || status.mask("SigPnd") & kSigprof;
        at_process = at_process || status.mask("ShdPnd") & kSigprof;
      },
      &found);
  return found;
}

bool await_handed_signals(bool (*is_exempt)(std::uint32_t tid, const void* data), const void* data,
                          std::uint64_t patience) {
  Wait wait{is_exempt, data, static_cast<std::uint32_t>(raw_syscall(SYS_gettid)),
            now(CLOCK_MONOTONIC) + patience, true};
  visit_tasks(await, &wait);
  return wait.is_in_time;
}

}  // namespace gnomon::collector
