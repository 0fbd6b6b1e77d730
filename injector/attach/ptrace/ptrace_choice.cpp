// Chooses a thread of a running process that can be borrowed, by stopping one at a time. Called and
// finished on one thread.
#include "injector/attach/ptrace/ptrace_choice.h"

#include <algorithm>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "injector/attach/remote/remote_process.h"
#include "injector/attach/remote/waiting.h"
#include "injector/attach/safe_point.h"

namespace gnomon::injector {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds kRun{30}, kPause{2}, kSearchTime{1500};
constexpr std::size_t kMostWalked = 64;  // threads whose stacks are walked in one round
constexpr int kMostRuns = 8;             // of a thread from one place to the next

class Search {
 public:
  explicit Search(pid_t pid) : pid_(pid), points_(pid) {}
  std::optional<TracedThread> round();
  std::chrono::nanoseconds held() const { return held_; }
  std::string why_none() const { return points_.why_nowhere(); }

 private:
  std::optional<TracedThread> waiting(pid_t tid);
  std::optional<TracedThread> at_safe_point(pid_t tid);
  SafePoint point_of(const TracedThread& thread);

  pid_t pid_;
  SafePoints points_;
  QuickBreakpoints quick_;
  std::chrono::nanoseconds held_{};
};

std::optional<TracedThread> Search::waiting(pid_t tid) {
  if (!is_plain_wait(pid_, tid) || has_signal_to_come(pid_, tid)) return std::nullopt;
  auto thread = TracedThread::stop(pid_, tid);
  if (thread && thread->waits() && is_plain_wait(pid_, tid) && !has_signal_to_come(pid_, tid) &&
      !runs_handler(thread->stopped()))
    return thread;
  if (thread) held_ += thread->release();
  return std::nullopt;
}

SafePoint Search::point_of(const TracedThread& thread) {
  const Stopped stopped = thread.stopped();
  const auto number = system_call_of(pid_, thread.tid());
  if (thread.is_delicate() || (thread.waits() && has_signal_to_come(pid_, thread.tid())) ||
      (!thread.waits() && number && is_restart_code(stopped.rax())))
    return {};
  return points_.of(stopped, thread.waits());
}

std::optional<TracedThread> Search::at_safe_point(pid_t tid) {
  // A thread in state D cannot be stopped before its wait is over.
  if (const char state = state_of(pid_, tid); state != 'R' && state != 'S') return std::nullopt;
  auto thread = TracedThread::stop(pid_, tid);
  if (!thread) return std::nullopt;
  SafePoint point = point_of(*thread);
  for (int i = 0; i < kMostRuns && point.where == SafePoint::Where::later; ++i) {
    if (!thread->run_to(point.address, kRun)) break;
    point = point_of(*thread);
  }
  if (point.where == SafePoint::Where::here) return thread;
  held_ += thread->release();
  return std::nullopt;
}

std::optional<TracedThread> Search::round() {
  std::vector<pid_t> threads = threads_of(pid_);
  // A wait for another allocator's lock looks like any other wait.
  if (!points_.has_own_allocator())
    for (const pid_t tid : threads)
      if (auto found = waiting(tid)) return found;
  points_.prepare();
  // Running threads first: where many wait for one lock, its holder is among them.
  std::stable_partition(threads.begin(), threads.end(),
                        [this](pid_t tid) { return state_of(pid_, tid) == 'R'; });
  std::size_t walked = 0;
  for (const pid_t tid : threads) {
    if (++walked > kMostWalked) break;
    if (auto found = at_safe_point(tid)) return found;
  }
  points_ = SafePoints(pid_);  // for the objects mapped now
  return std::nullopt;
}

// Returns true if all threads are in state D, in which none can be stopped.
bool all_wait_in_kernel(pid_t pid) {
  const std::vector<pid_t> threads = threads_of(pid);
  return std::all_of(threads.begin(), threads.end(),
                     [pid](pid_t tid) { return state_of(pid, tid) == 'D'; });
}

}  // namespace

Result<PtraceChoice> choose_by_ptrace(pid_t pid) {
  Search search(pid);
  for (const auto limit = Clock::now() + kSearchTime; Clock::now() < limit;) {
    if (auto found = search.round()) return PtraceChoice{std::move(*found), search.held()};
    if (state_of(pid, pid) == '\0')
      return fault("process " + std::to_string(pid) + " ended meanwhile");
    std::this_thread::sleep_for(kPause);
  }
  if (all_wait_in_kernel(pid))
    return fault(
        "all its threads wait uninterruptibly in the kernel, for a disk or for a child made by "
        "vfork",
        "repeat once that is over");
  return fault(search.why_none(), "repeat, or start it from the debugger");
}

}  // namespace gnomon::injector
