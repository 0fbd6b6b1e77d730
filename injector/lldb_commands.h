// LLDB's own commands, for what its API does not offer. LLDB's command thread.
#pragma once
#include <lldb/API/LLDB.h>

#include <string>
#include <vector>

namespace gnomon::injector {

// Runs a command without showing what it prints; false: it failed, and said `error`.
bool quietly(lldb::SBDebugger& debugger, const std::string& command, std::string* error = nullptr);

// By default LLDB announces every SIGPROF; a program that is sampled gets hundreds a second.
bool let_sigprof_pass(lldb::SBDebugger& debugger);

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
