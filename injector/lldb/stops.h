// Notes each stop of a recorded program that LLDB's user sees, by a stop hook of the target: LLDB
// delivers no events of the process to others in synchronous mode. LLDB's command thread, and the
// thread that handles a debugger's events, where stop hooks run in asynchronous mode.
#pragma once
#include <lldb/API/LLDB.h>

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>

#include "injector/base/recording.h"

namespace gnomon::injector {

class Stops {
 public:
  // Gives the debugger's selected target the hook, if it has none yet. From then on stops are
  // noted in recordings of that session below `stem`.
  void watch(lldb::SBDebugger debugger, const std::string& stem, std::uint64_t session);
  // Gives that target the hook alone.
  static void add_hook(lldb::SBDebugger debugger);
  // Takes the hook away.
  void forget(lldb::SBDebugger debugger);

  // Whether a sample is taken at each stop.
  void set_sampling(bool is_on);

  // What the hook runs: appends the stop to the log of the process's experiment and has a sample
  // taken. LLDB runs the hook once for each thread with a reason to stop; the first run counts.
  // Returns the directory of the experiment, empty if the process is not recorded; none: the stop
  // was noted before, or is not one of a process of this machine. Fault: the log cannot be written.
  Result<std::optional<std::string>> note(lldb::SBProcess process);
  // Returns when the stop was noted that the process is in (CLOCK_MONOTONIC, ns); 0: it was not.
  std::uint64_t time_of(lldb::SBProcess process);

 private:
  format::ControlPage* page_of(pid_t pid);

  std::mutex mutex_;
  bool is_sampling_ = true;
  std::string stem_;
  std::uint64_t session_ = 0;
  Found found_;  // the recording that was found last, and of which process
  pid_t found_pid_ = 0;
  std::uint32_t process_ = 0, stop_ = 0;  // the stop noted last
  std::uint64_t time_ = 0;                // of that
};

}  // namespace gnomon::injector
