// LLDB's own commands, for what its API does not offer. LLDB's command thread.
#include "injector/lldb_commands.h"

namespace gnomon::injector {

bool quietly(lldb::SBDebugger& debugger, const std::string& command, std::string* error) {
  lldb::SBCommandReturnObject answer;
  debugger.GetCommandInterpreter().HandleCommand(command.c_str(), answer, false);
  if (error && answer.GetError()) *error = answer.GetError();
  return answer.Succeeded();
}

bool let_sigprof_pass(lldb::SBDebugger& debugger) {
  return quietly(debugger, "process handle SIGPROF --stop false --notify false --pass true");
}

}  // namespace gnomon::injector
