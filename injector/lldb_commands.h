// LLDB's own commands, for what its API does not offer. LLDB's command thread.
#pragma once
#include <lldb/API/LLDB.h>
#include <sys/types.h>

#include <string>
#include <vector>

#include "reader/base/result.h"

namespace gnomon::injector {

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
