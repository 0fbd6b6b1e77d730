// lldb-gnomon.so: registers the command table with LLDB. Runs in LLDB's command thread.
#include <lldb/API/LLDB.h>

#include <memory>
#include <string>
#include <vector>

#include "commands/command.h"
#include "plugin/session.h"

namespace gnomon::plugin {
namespace {

// One row of the command table as LLDB calls it. LLDB owns it.
class Row : public lldb::SBCommandPluginInterface {
 public:
  Row(std::shared_ptr<Session> session, const commands::Command& command)
      : session_(std::move(session)), command_(command) {}

  bool DoExecute(lldb::SBDebugger, char** words, lldb::SBCommandReturnObject& answer) override {
    std::vector<std::string> arguments;
    for (; words && *words; ++words) arguments.emplace_back(*words);
    const auto text = commands::execute(*session_, command_, arguments);
    if (!text) {
      answer.SetError(sentence(text.error()).c_str());
      answer.SetStatus(lldb::eReturnStatusFailed);
      return false;
    }
    answer.PutCString(text->c_str());
    answer.SetStatus(lldb::eReturnStatusSuccessFinishResult);
    return true;
  }

 private:
  std::shared_ptr<Session> session_;
  const commands::Command& command_;
};

}  // namespace
}  // namespace gnomon::plugin

namespace lldb {

// Called by `plugin load`, once a debugger.
[[gnu::visibility("default")]] bool PluginInitialize(SBDebugger debugger) {
  using namespace gnomon;
  SBCommandInterpreter interpreter = debugger.GetCommandInterpreter();
  SBCommand collector = interpreter.AddMultiwordCommand(
      "collector", "Record where the program spends its time, and look at it.");
  if (!collector.IsValid()) return false;
  const auto session = std::make_shared<plugin::Session>(debugger);
  for (const commands::Command& command : commands::command_table()) {
    const std::string name(command.name), summary(command.summary);
    const std::string syntax = "collector " + name + " " + std::string(command.syntax);
    SBCommand added = collector.AddCommand(name.c_str(), new plugin::Row(session, command),
                                           summary.c_str(), syntax.c_str());
    if (!added.IsValid()) return false;
    added.SetHelpLong(std::string(command.help).c_str());
  }
  return true;
}

}  // namespace lldb
