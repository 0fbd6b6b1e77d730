// Which threads of a process that LLDB holds run, and how far. LLDB's command thread; the process
// is stopped.
#include "injector/attach/lldb_threads.h"

#include <signal.h>

#include <thread>

namespace gnomon::injector {
namespace {

using Clock = std::chrono::steady_clock;

// Interrupts the process once it has run enough, again if the interrupt was lost, until told to
// stop.
std::jthread watcher(lldb::SBProcess process, const std::function<bool()>& enough) {
  return std::jthread([process, &enough](const std::stop_token& stop) mutable {
    constexpr std::chrono::microseconds kPause{200};
    constexpr std::chrono::milliseconds kLost{100};
    for (auto due = Clock::now(); !stop.stop_requested(); std::this_thread::sleep_for(kPause)) {
      if (Clock::now() < due || !enough()) continue;
      process.SendAsyncInterrupt();
      due = Clock::now() + kLost;
    }
  });
}

}  // namespace

int signal_of(lldb::SBThread thread) {
  if (thread.GetStopReason() != lldb::eStopReasonSignal) return 0;
  const auto number = static_cast<int>(thread.GetStopReasonDataAtIndex(0));
  return number == SIGSTOP ? 0 : number;
}

bool is_placed(lldb::SBThread thread) {
  switch (thread.GetStopReason()) {
    case lldb::eStopReasonBreakpoint:
    case lldb::eStopReasonWatchpoint:
    case lldb::eStopReasonException:
    case lldb::eStopReasonPlanComplete:
      return true;
    default:
      return signal_of(thread) != 0;
  }
}

bool is_looked_at(lldb::SBProcess process, lldb::SBThread thread) {
  return is_placed(thread) || thread.GetThreadID() == process.GetSelectedThread().GetThreadID();
}

Kept::~Kept() {
  for (lldb::SBThread& thread : threads_) thread.Resume();
}

void Kept::keep(lldb::SBProcess& process, const std::function<bool(lldb::SBThread)>& which) {
  for (std::uint32_t i = 0; i < process.GetNumThreads(); ++i) {
    lldb::SBThread thread = process.GetThreadAtIndex(i);
    if (thread.IsSuspended() || !which(thread)) continue;
    thread.Suspend();
    threads_.push_back(thread);
  }
}

bool run_until(lldb::SBProcess& process, const std::function<bool()>& enough) {
  const auto watch = watcher(process, enough);
  return process.Continue().Success() && process.GetState() == lldb::eStateStopped;
}

bool run_alone_to(lldb::SBProcess& process, lldb::SBThread thread, std::uint64_t address,
                  std::chrono::milliseconds patience) {
  lldb::SBTarget target = process.GetTarget();
  lldb::SBBreakpoint there = target.BreakpointCreateByAddress(address);
  there.SetThreadID(thread.GetThreadID());
  {
    Kept others;
    others.keep(process,
                [&](lldb::SBThread other) { return other.GetThreadID() != thread.GetThreadID(); });
    const auto limit = Clock::now() + patience;
    run_until(process, [limit] { return Clock::now() > limit; });
  }
  target.BreakpointDelete(there.GetID());
  return thread.IsValid() && thread.GetFrameAtIndex(0).GetPC() == address;
}

}  // namespace gnomon::injector
