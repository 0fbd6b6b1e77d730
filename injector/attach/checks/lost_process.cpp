// A process that its debugger no longer follows. Any thread.
#include "injector/attach/checks/lost_process.h"

#include <signal.h>
#include <sys/syscall.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "injector/attach/remote/remote_process.h"
#include "injector/attach/remote/waiting.h"

namespace gnomon::injector {

pid_t tracer_of(pid_t pid) {
  return static_cast<pid_t>(status_number(pid, "TracerPid").value_or(0));
}

// The executing thread waits in execve(2) until all others have ended and were reaped by the
// tracer.
bool is_held_by_exec(pid_t pid) {
  constexpr int kNumThreads = 20;  // proc_pid_stat(5)
  const char state = state_of(pid, pid);
  if (state == 't') return stat_number(proc_text(pid, "stat"), kNumThreads) == 1;
  const std::vector<pid_t> threads = threads_of(pid);
  return state == 'Z' && std::any_of(threads.begin(), threads.end(), [&](pid_t tid) {
           const long call = system_call_of(pid, tid).value_or(-1);
           return call == SYS_execve || call == SYS_execveat;
         });
}

// A SIGSTOP that is still pending, or was taken while traced, stops the process later, and /proc
// does not show all of them. SIGCONT discards them.
void let_go_on(pid_t pid) {
  const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(2);
  while (tracer_of(pid) != 0 && std::chrono::steady_clock::now() < limit)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  if (pid > 0 && tracer_of(pid) == 0) kill(pid, SIGCONT);
}

}  // namespace gnomon::injector
