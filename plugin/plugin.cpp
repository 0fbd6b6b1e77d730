// lldb-gnomon.so: registers the command table with LLDB. Runs in LLDB's command thread.
#include <lldb/API/LLDB.h>

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "commands/base/command.h"
#include "commands/base/help.h"
#include "plugin/host_version.h"
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
    const auto said = commands::execute(*session_, command_, arguments);
    if (!said) {
      answer.SetError(commands::with_help_of(sentence(said.error()), "collector ").c_str());
      answer.SetStatus(lldb::eReturnStatusFailed);
      return false;
    }
    for (const std::string& warning : said->warnings)
      answer.AppendWarning(one_line(warning).c_str());
    answer.PutCString(said->text.c_str());
    answer.SetStatus(lldb::eReturnStatusSuccessFinishResult);
    return true;
  }

 private:
  std::shared_ptr<Session> session_;
  const commands::Command& command_;
};

bool add(lldb::SBCommand& collector, const std::shared_ptr<Session>& session,
         const commands::Command& command, std::string_view called) {
  const std::string name(called), full(command.name);
  const std::string summary =
      called == command.name ? std::string(command.summary) : "Short for `" + full + "`.";
  const std::string syntax = "collector " + name + " " + commands::syntax(command);
  // Enter after a report prints it again, with its arguments; nothing else is done twice.
  const char* again = command.role == commands::Role::report ? nullptr : "";
  lldb::SBCommand added = collector.AddCommand(name.c_str(), new Row(session, command),
                                               summary.c_str(), syntax.c_str(), again);
  if (!added.IsValid()) return false;
  added.SetHelpLong(commands::long_help(command).c_str());
  return true;
}

}  // namespace
}  // namespace gnomon::plugin

namespace lldb {

// Called by `plugin load`, once a debugger.
[[gnu::visibility("default")]] bool PluginInitialize(SBDebugger debugger) {
  using namespace gnomon;
  if (const std::string why = plugin::wrong_host(__builtin_return_address(0)); !why.empty()) {
    std::fprintf(stderr, "error: %s.\n", why.c_str());
    return false;
  }
  SBCommandInterpreter interpreter = debugger.GetCommandInterpreter();
  SBCommand collector = interpreter.AddMultiwordCommand(
      "collector", "Profile the program: record where it spends its time, and look at it.");
  if (!collector.IsValid()) return false;
  const auto session = std::make_shared<plugin::Session>(debugger);
  for (const commands::Command& command : commands::command_table()) {
    if (commands::is_in_print_alone(command.role)) continue;
    if (!plugin::add(collector, session, command, command.name)) return false;
    for (const std::string_view alias : commands::blank_separated(command.aliases))
      if (!plugin::add(collector, session, command, alias)) return false;
  }
  return true;
}

}  // namespace lldb
