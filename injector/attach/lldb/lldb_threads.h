// Controls which threads of a process that LLDB holds run, and how far. LLDB's command thread; the
// process is stopped.
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

// Returns the signal for which a thread has stopped, or 0; SIGSTOP, by which debuggers stop
// threads, does not count.
int signal_of(lldb::SBThread thread);
std::string signal_name(int number);  // without SIG
// Returns true if a thread stands where the user has let it run to; it must not move.
bool is_placed(lldb::SBThread thread);
std::vector<lldb::SBThread> placed_threads(lldb::SBProcess process);
// The same, or true for the thread that the user had selected; LLDB selects another one at each
// stop.
bool is_looked_at(lldb::SBThread thread, lldb::tid_t selected);

// Returns the threads that will not run with the process, except those to which LLDB has yet to
// deliver a tick.
std::vector<pid_t> held_threads(lldb::SBProcess process);

// Keeps threads suspended during its lifetime while others run.
class Kept {
 public:
  Kept() = default;
  ~Kept();
  Kept(const Kept&) = delete;
  Kept& operator=(const Kept&) = delete;
  // Also suspends the threads for which `which` is true.
  void keep(lldb::SBProcess& process, const std::function<bool(lldb::SBThread)>& which);

 private:
  std::vector<lldb::SBThread> threads_;
};

// Lets the process run until enough() is true (asked about every 0.2 ms, on another thread) or
// something else stops it. Returns for how long it ran until it was told to stop; nothing if it has
// ended or cannot run.
std::optional<std::chrono::nanoseconds> run_until(lldb::SBProcess& process,
                                                  const std::function<bool()>& enough);

// Says why LLDB no longer holds the process.
Fault why_not_held(lldb::SBProcess& process);

struct Run {
  bool is_there;
  std::chrono::nanoseconds took;
};
// Lets one thread run alone to an address. Run::there is false if it did not get there in time or
// waits for a lock.
Run run_alone_to(lldb::SBProcess& process, lldb::SBThread thread, std::uint64_t address,
                 std::chrono::milliseconds patience);

}  // namespace gnomon::injector
