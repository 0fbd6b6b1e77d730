// Lets a process that LLDB holds run until an insertion is done. LLDB's command thread; the process
// is stopped.
#include "injector/attach/lldb/lldb_run.h"

#include <sys/syscall.h>

#include <algorithm>
#include <optional>

#include "injector/attach/lldb/lldb_threads.h"
#include "injector/attach/lldb/lldb_unblock.h"
#include "injector/attach/patience.h"
#include "injector/attach/remote/waiting.h"
#include "injector/lldb/lldb_process.h"

namespace gnomon::injector {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

bool is_staying(lldb::SBProcess& process, const Borrowed& borrowed, const Insertion& insertion) {
  return borrowed.stays && insertion.is_staying(program_counter_of(
                               static_cast<pid_t>(process.GetProcessID()),
                               static_cast<pid_t>(borrowed.thread.GetThreadID())));
}

// Returns true if the borrowed thread has left the gate.
bool has_left(lldb::SBThread thread, const Insertion& insertion) {
  const auto pid = static_cast<pid_t>(thread.GetProcess().GetProcessID());
  return insertion.progress() != Insertion::Progress::borrowed &&
         !insertion.is_in_gate(program_counter_of(pid, static_cast<pid_t>(thread.GetThreadID())));
}

void put_home(Borrowed& borrowed) {
  put_back(borrowed.thread, borrowed.resume.rip, borrowed.stopped.rsp(), borrowed.flags);
  borrowed.stays = false;
}

// Tells when the process has run enough: the new thread is done and has ended, or has had time to;
// the process has executed another program; or that takes too long. Hands over files meanwhile.
class Enough {
 public:
  Enough(Insertion& insertion, pid_t pid, pid_t borrowed)
      : insertion_(insertion), patience_(pid), borrowed_(borrowed) {}
  bool operator()() {
    constexpr milliseconds kLeaving{20};
    insertion_.hand_over();
    if (!insertion_.is_there()) return true;
    if (!done_ && insertion_.progress() != Insertion::Progress::done)
      return patience_.is_over([&] { return insertion_.helper_or(borrowed_); });
    if (!done_) done_ = Clock::now();
    return insertion_.has_helper_left() || Clock::now() > *done_ + kLeaving;
  }

 private:
  Insertion& insertion_;
  Patience patience_;
  pid_t borrowed_;
  std::optional<Clock::time_point> done_;
};

// Runs only the borrowed and the new thread. LLDB needs half a millisecond a thread to resume and
// stop a process, which mostly stands still meanwhile; the two need the others only if they wait
// for a lock.
void run_few(lldb::SBProcess& process, lldb::SBThread thread, const Insertion& insertion,
             const std::function<bool()>& enough) {
  constexpr std::uint32_t kMany = 100;  // threads
  constexpr milliseconds kMostAlone{250};
  constexpr int kStays = 5;
  if (process.GetNumThreads() < kMany || insertion.releases()) return;
  Kept others;
  others.keep(process,
              [&](lldb::SBThread other) { return other.GetThreadID() != thread.GetThreadID(); });
  const auto pid = static_cast<pid_t>(process.GetProcessID());
  const auto tid = static_cast<pid_t>(thread.GetThreadID());
  int waits = 0;  // how often in a row one of the two was seen in futex(2)
  run_until(process, [&, limit = Clock::now() + kMostAlone] {
    const bool waits_now = system_call_of(pid, tid) == SYS_futex ||
                           system_call_of(pid, insertion.helper()) == SYS_futex;
    waits = waits_now ? waits + 1 : 0;
    return enough() || waits >= kStays || Clock::now() > limit;
  });
}

// Lets the process run until the insertion is done. Returns for how long it ran. Threads at which
// the user looks do not move.
std::chrono::nanoseconds run_all(lldb::SBProcess& process, Chosen& chosen, Insertion& insertion,
                                 LldbUnblocking& unblocking) {
  std::chrono::nanoseconds ran{};
  Borrowed& borrowed = chosen.borrowed;
  const bool comes_back = borrowed.stays;
  Enough enough(insertion, static_cast<pid_t>(process.GetProcessID()),
                static_cast<pid_t>(borrowed.thread.GetThreadID()));
  const auto has_to_stop = [&] {
    unblocking.give_up_in_time();
    return enough() || unblocking.is_due();
  };
  run_few(process, borrowed.thread, insertion, has_to_stop);
  Kept kept;
  while (!enough()) {
    if (unblocking.is_due() && is_staying(process, borrowed, insertion)) put_home(borrowed);
    kept.keep(process, [&](lldb::SBThread thread) {
      if (thread.GetThreadID() == borrowed.thread.GetThreadID())
        return comes_back ? !borrowed.stays : has_left(thread, insertion) && is_placed(thread);
      return chosen.selected_holds ? is_placed(thread) : is_looked_at(thread, chosen.selected);
    });
    if (unblocking.is_due()) unblocking.look();
    insertion.note_held(held_threads(process));
    repair_interrupted_waits(process);
    const auto run = run_until(process, has_to_stop);
    if (!run) break;
    ran += *run;
  }
  return ran;
}

// Puts a staying thread back to where it was borrowed. If it has not reached its waiting place in
// time, it goes on by itself later.
void bring_back(lldb::SBProcess& process, Borrowed& borrowed, const Insertion& insertion) {
  constexpr milliseconds kFirst{2}, kLongest{64};
  if (!borrowed.stays || process.GetState() != lldb::eStateStopped) return;
  const auto stays = [&] { return is_staying(process, borrowed, insertion); };
  // A signal handler may run on top of it.
  Kept others;
  others.keep(process, [&](lldb::SBThread thread) {
    return thread.GetThreadID() != borrowed.thread.GetThreadID();
  });
  for (milliseconds handler = kFirst;
       handler <= kLongest && !stays() && insertion.progress() == Insertion::Progress::done;
       handler *= 2)
    if (!run_until(process, [until = Clock::now() + handler] { return Clock::now() > until; }))
      return;
  if (process.GetState() == lldb::eStateStopped && stays()) {
    put_home(borrowed);
    return;
  }
  const std::uint64_t one = 1;
  write(process, insertion.release(), &one, sizeof one);
}

}  // namespace

std::chrono::nanoseconds run_insertion(lldb::SBProcess& process, Chosen& chosen,
                                       Insertion& insertion, std::vector<pid_t>& sent) {
  LldbUnblocking unblocking(process, insertion);
  const auto ran = run_all(process, chosen, insertion, unblocking);
  bring_back(process, chosen.borrowed, insertion);
  sent = unblocking.sent();
  sent.push_back(static_cast<pid_t>(chosen.borrowed.thread.GetThreadID()));
  return ran;
}

}  // namespace gnomon::injector
