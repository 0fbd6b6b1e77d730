// Which threads of a process that LLDB holds run, and how far. LLDB's command thread; the process
// is stopped.
#pragma once
#include <lldb/API/LLDB.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "reader/base/result.h"

namespace gnomon::injector {

// The signal that a thread has stopped for; 0: none. SIGSTOP is how a debugger stops threads.
int signal_of(lldb::SBThread thread);
std::string signal_name(int number);  // without SIG
// True if a thread stands where the user let it run to: it must not get on.
bool is_placed(lldb::SBThread thread);
std::vector<lldb::SBThread> placed_threads(lldb::SBProcess process);
// Also true of the thread that the user had selected: LLDB selects another at each stop.
bool is_looked_at(lldb::SBThread thread, lldb::tid_t selected);

// Threads that will not run with the process, but those that LLDB is to hand a tick once they do.
std::vector<pid_t> held_threads(lldb::SBProcess process);

// Threads that stay where they are while others run, until it ends.
class Kept {
 public:
  Kept() = default;
  ~Kept();
  Kept(const Kept&) = delete;
  Kept& operator=(const Kept&) = delete;
  // Those of which `which` is true, besides what is kept already.
  void keep(lldb::SBProcess& process, const std::function<bool(lldb::SBThread)>& which);

 private:
  std::vector<lldb::SBThread> threads_;
};

// Lets the process run until `enough` (asked about every 0.2 ms, from another thread) or until
// something else stops it. For how long it ran until it was told to stop; empty: it has ended or
// cannot run.
std::optional<std::chrono::nanoseconds> run_until(lldb::SBProcess& process,
                                                  const std::function<bool()>& enough);

// Why LLDB does not hold the process any more.
Fault why_not_held(lldb::SBProcess& process);

struct Run {
  bool is_there;
  std::chrono::nanoseconds took;
};
// Lets one thread run alone until it comes to an address. Not there: it did not in that time, or
// waits for what another holds.
Run run_alone_to(lldb::SBProcess& process, lldb::SBThread thread, std::uint64_t address,
                 std::chrono::milliseconds patience);

}  // namespace gnomon::injector
