// Tells whether this process may trace another one with ptrace(2). Reads /proc; any thread; stops
// nothing.
#include "injector/attach/checks/rights.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <fstream>
#include <string>
#include <thread>

#include "injector/attach/remote/remote_process.h"

namespace gnomon::injector {
namespace {

// Tries to open /proc/PID/mem, which needs the same rights as attaching, Yama's included
// (proc_pid_mem(5)). Returns 0 or errno.
int error_of_opening_memory(pid_t pid) {
  const int memory = open(("/proc/" + std::to_string(pid) + "/mem").c_str(), O_RDONLY | O_CLOEXEC);
  if (memory < 0) return errno;
  close(memory);
  return 0;
}

int yama_scope() {
  int scope = 0;
  std::ifstream("/proc/sys/kernel/yama/ptrace_scope") >> scope;
  return scope;
}

Fault refusal(pid_t pid) {
  const auto owner = status_number(pid, "Uid");
  if (geteuid() != 0 && owner && *owner != geteuid())
    return {
        "it runs as user " + std::to_string(*owner) + ", you are user " + std::to_string(geteuid()),
        "be that user, or root"};
  switch (yama_scope()) {
    case 0:
      break;
    case 1:
      return {"you may debug only what you have started (kernel.yama.ptrace_scope is 1)",
              "be root, start it from the debugger, or set that to 0"};
    case 2:
      return {"only root may debug (kernel.yama.ptrace_scope is 2)", "be root"};
    default:
      return {"nothing may be debugged here (kernel.yama.ptrace_scope is 3)",
              "that stays so until the machine is rebooted"};
  }
  return {"you may not debug it", geteuid() == 0
                                      ? "the capability CAP_SYS_PTRACE would allow it, over its "
                                        "user namespace, too"
                                      : "it has changed its user or has capabilities: be root"};
}

// Returns the process that traces it; 0 if there is none or it is this one.
pid_t other_tracer_of(pid_t pid) {
  const auto tracer = static_cast<pid_t>(status_number(pid, "TracerPid").value_or(0));
  return tracer == getpid() ? 0 : tracer;
}

// Waits while lasts() is true, 100 ms at most, for states that pass within milliseconds.
template <typename Lasts>
void let_pass(Lasts lasts) {
  constexpr int kLooks = 100;
  for (int i = 0; i < kLooks && lasts(); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

// Returns a Fault for a process without a program: a kernel thread, a process that is about to end,
// or one in the middle of an exec by a thread other than the first.
Result<void> check_has_program(pid_t pid) {
  constexpr std::uint64_t kKernelThread = 0x00200000;  // PF_KTHREAD; proc_pid_stat(5), flags
  bool has_none = proc_link(pid, "exe").empty();
  if (!has_none) return {};
  if (process_flags(pid) & kKernelThread)
    return fault("it is a thread of the kernel", "`perf record -a -g` shows what the kernel does");
  let_pass([&] { return has_none = proc_link(pid, "exe").empty(); });
  return has_none ? fault("it is about to end") : Result<void>{};
}

}  // namespace

Result<void> check_is_process(pid_t pid) {
  const auto process = static_cast<pid_t>(status_number(pid, "Tgid").value_or(pid));
  if (process == pid) return {};
  return fault("it is a thread of process " + std::to_string(process), "name that number");
}

Result<void> check_rights(pid_t pid) {
  if (pid <= 0 || (kill(pid, 0) != 0 && errno == ESRCH)) return fault("there is no such process");
  if (auto fits = check_is_process(pid); !fits) return fits;
  if (pid == getpid()) return fault("it is this one");
  // While another thread executes a program, the first is a zombie or missing. A `gnomon` that ends
  // a recording there traces the process for milliseconds.
  char state{};
  pid_t tracer{};
  let_pass([&] {
    state = state_of(pid, pid);
    tracer = other_tracer_of(pid);
    return tracer != 0 || state == 'Z' || state == '\0';
  });
  switch (state) {
    case '\0':
      return fault("it has ended");
    case 'Z':
      return threads_of(pid).size() > 1
                 ? fault("its first thread has ended, and Linux shows little of what runs on",
                         "start it from the debugger instead")
                 : fault("it has ended");
    case 'T':
      return fault("it is stopped", "let it run with `kill -CONT " + std::to_string(pid) +
                                        "`, or `fg` in its shell");
    default:
      break;
  }
  if (tracer != 0)
    return fault("a debugger holds it already (process " + std::to_string(tracer) + ")",
                 "enable the collector there, or detach it");
  const int error = error_of_opening_memory(pid);
  if (error == EACCES || error == EPERM) return tl::unexpected(refusal(pid));
  return check_has_program(pid);
}

}  // namespace gnomon::injector
