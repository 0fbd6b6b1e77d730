// Chooses a thread of a process that LLDB holds, and the place where it can be borrowed. LLDB's
// command thread; the process is stopped.
#include "injector/attach/lldb/lldb_choice.h"

#include <sys/syscall.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <vector>

#include "injector/attach/lldb/lldb_threads.h"
#include "injector/lldb/lldb_process.h"

namespace gnomon::injector {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds kRunAlone{30}, kRunAll{5}, kSearchTime{1500};
constexpr std::size_t kMostWalked = 64;  // threads whose stacks are walked in one round
constexpr std::size_t kMostBlocked =
    4;  // threads that are run alone in one round although they wait for a lock

// A thread that can be borrowed once it reaches `address`.
struct Candidate {
  lldb::SBThread thread;
  std::uint64_t address;
  bool is_blocked;
};

class Choice {
 public:
  explicit Choice(lldb::SBProcess& process)
      : process_(process),
        points_(static_cast<pid_t>(process.GetProcessID())),
        selected_(process.GetSelectedThread().GetThreadID()) {}

  // Returns a thread that can be borrowed where it is; notes the candidates.
  std::optional<Borrowed> fit_now();
  // Lets a candidate run to its safe point, or all threads for a moment.
  void run_on();
  // Returns true if no thread may be moved.
  bool is_all_fixed();
  Fault why_all_fixed();
  bool moved() const { return moved_; }
  std::string why_none() const { return points_.why_nowhere(); }
  bool selected_holds(Borrowed& borrowed);
  std::chrono::nanoseconds free() const { return free_; }
  lldb::tid_t selected() const { return selected_; }

 private:
  bool is_selected(lldb::SBThread thread) { return thread.GetThreadID() == selected_; }
  // A thread that this code has moved may be moved further.
  bool is_fixed(lldb::SBThread thread) {
    return thread.GetThreadID() != brought_ && is_placed(thread);
  }
  pid_t pid() { return static_cast<pid_t>(process_.GetProcessID()); }
  std::optional<Borrowed> waiting(lldb::SBThread thread);
  std::optional<Borrowed> at_safe_point(lldb::SBThread thread);
  std::optional<Borrowed> walk_all();
  void let_candidate_run();

  lldb::SBProcess& process_;
  SafePoints points_;
  lldb::tid_t selected_;  // by the user
  std::vector<Candidate> candidates_;
  lldb::tid_t brought_ = LLDB_INVALID_THREAD_ID;
  bool moved_ = false;
  std::chrono::nanoseconds free_{};
};

// Uses /proc alone; most programs have a thread that waits.
std::optional<Borrowed> Choice::waiting(lldb::SBThread thread) {
  const auto tid = static_cast<pid_t>(thread.GetThreadID());
  // A pending signal's handler would run first and end the call.
  if (signal_of(thread) != 0 || !is_plain_wait(pid(), tid) || has_signal_to_come(pid(), tid))
    return std::nullopt;
  const Stopped stopped = registers_of(pid(), thread);
  const auto resume = restart(stopped);
  if (!resume || runs_handler(stopped)) return std::nullopt;
  return Borrowed{thread, stopped, *resume, false};
}

// A handler that is about to run does so first, on the gate's stack if it has none of its own; it
// changes only how an interrupted system call goes on.
std::optional<Borrowed> Choice::at_safe_point(lldb::SBThread thread) {
  const auto tid = static_cast<pid_t>(thread.GetThreadID());
  const Stopped stopped = registers_of(pid(), thread);
  const auto call = restart(stopped);
  if (call && (signal_of(thread) != 0 || has_signal_to_come(pid(), tid))) return std::nullopt;
  const auto number = system_call_of(pid(), tid);
  if (!call && number && is_restart_code(stopped.rax())) return std::nullopt;
  const SafePoint point = points_.of(stopped, call.has_value());
  if (point.where == SafePoint::Where::later && !is_fixed(thread))
    candidates_.push_back({thread, point.address, call && number == SYS_futex});
  if (point.where != SafePoint::Where::here) return std::nullopt;
  const bool stays = !call && (is_fixed(thread) || (is_selected(thread) && !point.is_under_loader));
  moved_ = moved_ || (is_selected(thread) && !call && !stays);
  return Borrowed{thread, stopped, call.value_or(Resume{stopped.rax(), stopped.rip()}), stays};
}

// Running threads first: where many wait for one lock, its holder is among them.
std::optional<Borrowed> Choice::walk_all() {
  std::vector<lldb::SBThread> free, blocked, looked_at;
  for (std::uint32_t i = 0; i < process_.GetNumThreads(); ++i) {
    lldb::SBThread thread = process_.GetThreadAtIndex(i);
    const bool is_blocked =
        system_call_of(pid(), static_cast<pid_t>(thread.GetThreadID())) == SYS_futex;
    auto& kind = is_fixed(thread) || is_selected(thread) ? looked_at : is_blocked ? blocked : free;
    kind.push_back(thread);
  }
  free.insert(free.end(), blocked.begin(), blocked.end());
  free.resize(std::min(free.size(), kMostWalked));
  free.insert(free.end(), looked_at.begin(), looked_at.end());
  for (lldb::SBThread& thread : free)
    if (auto found = at_safe_point(thread)) return found;
  return std::nullopt;
}

std::optional<Borrowed> Choice::fit_now() {
  candidates_.clear();
  // A wait for another allocator's lock looks like any other wait.
  for (std::uint32_t i = 0; !points_.has_own_allocator() && i < process_.GetNumThreads(); ++i)
    if (auto found = waiting(process_.GetThreadAtIndex(i))) return found;
  return walk_all();
}

void Choice::run_on() {
  let_candidate_run();
  if (process_.GetState() == lldb::eStateStopped)
    points_ = SafePoints(pid());  // for the objects mapped now
}

void Choice::let_candidate_run() {
  std::stable_sort(
      candidates_.begin(), candidates_.end(),
      [](const Candidate& a, const Candidate& b) { return a.is_blocked < b.is_blocked; });
  std::size_t blocked = 0;
  for (const Candidate& candidate : candidates_) {
    if (candidate.is_blocked && ++blocked > kMostBlocked) break;
    moved_ = moved_ || is_selected(candidate.thread);
    const bool is_all = process_.GetNumThreads() == 1;
    const Run run = run_alone_to(process_, candidate.thread, candidate.address, kRunAlone);
    if (is_all) free_ += run.took;
    brought_ = run.is_there ? candidate.thread.GetThreadID() : LLDB_INVALID_THREAD_ID;
    if (run.is_there || process_.GetState() != lldb::eStateStopped) return;
  }
  Kept kept;
  kept.keep(process_, [this](lldb::SBThread thread) { return is_fixed(thread); });
  moved_ = moved_ || !process_.GetThreadByID(selected_).IsSuspended();
  const auto ran =
      run_until(process_, [limit = Clock::now() + kRunAll] { return Clock::now() > limit; });
  free_ += ran.value_or(std::chrono::nanoseconds{});
  brought_ = LLDB_INVALID_THREAD_ID;
}

bool Choice::selected_holds(Borrowed& borrowed) {
  lldb::SBThread thread = process_.GetThreadByID(selected_);
  if (!thread.IsValid() || thread.GetThreadID() == borrowed.thread.GetThreadID() ||
      is_fixed(thread) || waiting(thread))
    return false;
  const Stopped stopped = registers_of(pid(), thread);
  const SafePoint point = points_.of(stopped, restart(stopped).has_value());
  return point.where != SafePoint::Where::here || point.is_under_loader;
}

bool Choice::is_all_fixed() {
  for (std::uint32_t i = 0; i < process_.GetNumThreads(); ++i)
    if (!is_fixed(process_.GetThreadAtIndex(i))) return false;
  return true;
}

Fault Choice::why_all_fixed() {
  for (std::uint32_t i = 0; i < process_.GetNumThreads(); ++i)
    if (const int number = signal_of(process_.GetThreadAtIndex(i)); number != 0)
      return {"it is about to handle a signal (SIG" + signal_name(number) + ")",
              "let it run, stop it again and repeat"};
  return {"it stands inside a function of libc, of the loader or of the allocator",
          "type `finish`, and repeat"};
}

}  // namespace

Result<Chosen> choose_thread(lldb::SBProcess& process) {
  Choice choice(process);
  for (const auto limit = Clock::now() + kSearchTime; Clock::now() < limit;) {
    if (auto found = choice.fit_now()) {
      const bool holds = choice.selected_holds(*found);
      return Chosen{*found, choice.moved() || holds, holds, choice.free(), choice.selected()};
    }
    if (choice.is_all_fixed()) return tl::unexpected(choice.why_all_fixed());
    choice.run_on();
    if (process.GetState() != lldb::eStateStopped) return tl::unexpected(why_not_held(process));
  }
  return fault(choice.why_none(),
               "let it run, stop it again and repeat, or start it from the debugger");
}

}  // namespace gnomon::injector
