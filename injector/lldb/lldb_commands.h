// LLDB's own commands, for what its API does not offer. LLDB's command thread.
#pragma once
#include <lldb/API/LLDB.h>
#include <sys/types.h>

#include <string>
#include <vector>

#include "reader/base/result.h"

namespace gnomon::injector {

// The command of the stop hook by which stops are noted.
inline constexpr const char* kNoteStop = "collector note-stop";

// Runs a command without showing its output. Returns false if it failed; its message is stored in
// `error`.
bool quietly(lldb::SBDebugger& debugger, const std::string& command, std::string* error = nullptr);

// Runs `process attach`. Returns its output.
Result<std::string> attach_debugger(lldb::SBDebugger& debugger, pid_t pid);

// Makes LLDB pass SIGPROF silently: by default it announces each, and a sampled program gets
// hundreds a second.
bool let_sigprof_pass(lldb::SBDebugger& debugger);

// Returns a line about a signal that the program's runtime uses and LLDB stops at, or "".
std::string stops_note(lldb::SBProcess process);

// A stop hook of the selected target, as `target stop-hook list` shows it.
struct StopHook {
  std::string number;
  bool is_enabled = false;
  std::vector<std::string> lines;  // its commands among others, without indentation
};
std::vector<StopHook> stop_hooks(lldb::SBDebugger debugger);

// Returns true if the calling command runs as part of a stop that LLDB is still handling, as the
// command of a breakpoint or a stop hook: the process cannot be run to and fro there. Where LLDB
// reads no terminal, a thread that stands at a breakpoint with a `collector` command, or a stop
// hook with one, counts as such as well, because nothing tells the two apart.
bool is_handling_stop(lldb::SBDebugger debugger);

// Disables the user's stop hooks of the selected target during its lifetime.
class QuietStopHooks {
 public:
  explicit QuietStopHooks(lldb::SBDebugger debugger);
  ~QuietStopHooks();
  QuietStopHooks(const QuietStopHooks&) = delete;
  QuietStopHooks& operator=(const QuietStopHooks&) = delete;

 private:
  lldb::SBDebugger debugger_;
  std::vector<std::string> disabled_;  // their numbers
};

}  // namespace gnomon::injector
