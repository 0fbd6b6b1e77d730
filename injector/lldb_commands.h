// LLDB's own commands, for what its API does not offer. LLDB's command thread.
#pragma once
#include <lldb/API/LLDB.h>
#include <sys/types.h>

#include <string>
#include <vector>

#include "reader/base/result.h"

namespace gnomon::injector {

// Runs a command without showing what it prints; false: it failed, and said `error`.
bool quietly(lldb::SBDebugger& debugger, const std::string& command, std::string* error = nullptr);

// `process attach`; what it printed.
Result<std::string> attach_debugger(lldb::SBDebugger& debugger, pid_t pid);

// By default LLDB announces every SIGPROF; a program that is sampled gets hundreds a second.
bool let_sigprof_pass(lldb::SBDebugger& debugger);

// A line on a signal that the program's runtime lives by and LLDB stops at; empty: none.
std::string stops_note(lldb::SBProcess process);

// The user's stop hooks of the selected target are off for as long as it lives.
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
