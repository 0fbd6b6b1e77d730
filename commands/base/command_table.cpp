// The command table: the rows of all groups, and those about Gnomon itself. Any thread.
#include <array>
#include <vector>

#include "commands/base/command.h"
#include "commands/base/help.h"

namespace gnomon::commands {
namespace {

Result<Answer> run_version(Host&, const Invocation&) { return Answer{version_text(), {}}; }

Result<Answer> run_help(Host&, const Invocation& call) {
  if (call.arguments.empty()) return Answer{help_text(), {}};
  const auto anywhere = find_command(call.arguments.front());
  const auto command = anywhere ? anywhere : find_command(call.arguments.front(), true);
  if (!command) return tl::unexpected(anywhere.error());
  return Answer{help_text((*command)->name), {}};
}

constexpr std::array kCommands{
    Command{"version", "", "", "Version of Gnomon.", "", kNoOptions, Role::self, 0, run_version},
    Command{"help", "", "[COMMAND]", "This list, or what a command does.", "", kNoOptions,
            Role::self, 1, run_help},
};

}  // namespace

std::span<const Command> command_table() {
  static const std::vector<Command> table = [] {
    std::vector<Command> all;
    for (const auto group :
         {control_commands(), report_commands(), heap_commands(), sync_commands(), io_commands(),
          touch_commands(), stop_commands(), selection_commands(), export_commands(),
          view_commands(), output_commands(), std::span<const Command>(kCommands)})
      all.insert(all.end(), group.begin(), group.end());
    return all;
  }();
  return table;
}

}  // namespace gnomon::commands
