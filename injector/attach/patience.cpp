// How long an insertion is waited for. LLDB's command thread, and the shell's.
#include "injector/attach/patience.h"

#include <cstdlib>
#include <string>

#include "injector/attach/remote/remote_process.h"

namespace gnomon::injector {
namespace {

// ns on a CPU (Linux, scheduler/sched-stats.rst); 0: not known.
std::uint64_t used_by(pid_t pid, pid_t thread) {
  const std::string text = proc_text(pid, "task/" + std::to_string(thread) + "/schedstat");
  return std::strtoull(text.c_str(), nullptr, 10);
}

// Returns true for a thread that waits for a CPU, for a disk or for its debugger.
bool is_delayed(char state) { return state == 'R' || state == 'D' || state == 't'; }

}  // namespace

bool Patience::is_over(const std::function<pid_t()>& of) {
  const auto now = Clock::now();
  if (now - looked_ < kLook) return false;
  looked_ = now;
  const pid_t thread = of();
  const std::uint64_t used = used_by(pid_, thread);
  if (thread != thread_ || used != used_ || is_delayed(state_of(pid_, thread))) moved_ = now;
  thread_ = thread;
  used_ = used;
  return now - moved_ >= kStill || now - begin_ >= kMost;
}

}  // namespace gnomon::injector
