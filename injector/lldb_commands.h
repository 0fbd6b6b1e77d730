// LLDB's own commands, for what its API does not offer. LLDB's command thread.
#pragma once
#include <lldb/API/LLDB.h>

#include <string>

namespace gnomon::injector {

// Runs a command without showing what it prints; false: it failed, and said `error`.
bool quietly(lldb::SBDebugger& debugger, const std::string& command, std::string* error = nullptr);

// By default LLDB announces every SIGPROF; a program that is sampled gets hundreds a second.
bool let_sigprof_pass(lldb::SBDebugger& debugger);

}  // namespace gnomon::injector
