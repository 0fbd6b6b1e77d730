// The command table and what each row runs. Any thread.
#include <fmt/format.h>

#include <array>

#include "commands/command.h"
#include "reader/report/report.h"

namespace gnomon::commands {
namespace {

using reader::Table;

std::string render(const Table& table, Format format) {
  return format == Format::json ? to_json(table) : to_text(table);
}

Result<std::string> directory_of(Host& host, const Invocation& call) {
  if (call.arguments.size() > 1)
    return fault("one experiment at a time, not " + std::to_string(call.arguments.size()),
                 "name one directory");
  if (call.arguments.empty()) return host.experiment();
  return call.arguments.front();
}

Result<void> no_arguments(const Invocation& call) {
  if (call.arguments.empty()) return {};
  return fault("nothing known by the name of " + call.arguments.front(),
               "give the command without arguments");
}

Result<std::string> run_enable(Host& host, const Invocation& call) {
  if (auto bare = no_arguments(call); !bare) return tl::unexpected(bare.error());
  return host.enable();
}

Result<std::string> run_disable(Host& host, const Invocation& call) {
  if (auto bare = no_arguments(call); !bare) return tl::unexpected(bare.error());
  return host.disable();
}

Result<std::string> run_status(Host& host, const Invocation& call) {
  auto directory = directory_of(host, call);
  Table table;
  if (directory) {
    auto report = reader::status_report(*directory);
    if (!report) return tl::unexpected(report.error());
    table = std::move(*report);
  } else if (!call.arguments.empty() || host.state().empty()) {
    return tl::unexpected(directory.error());
  } else {
    table.columns = {{"item", {}}, {"value", {}}};
  }
  if (const std::string state = host.state(); call.arguments.empty() && !state.empty())
    table.rows.insert(table.rows.begin(), {std::string("Collector"), state});
  return render(table, call.format);
}

Result<std::string> run_functions(Host& host, const Invocation& call) {
  auto directory = directory_of(host, call);
  if (!directory) return directory;
  auto table = reader::functions_report(*directory);
  if (!table) return tl::unexpected(table.error());
  return render(*table, call.format);
}

Result<std::string> run_version(Host&, const Invocation& call) {
  if (auto bare = no_arguments(call); !bare) return tl::unexpected(bare.error());
  return std::string("Gnomon " GNOMON_VERSION "\n");
}

Result<std::string> run_help(Host&, const Invocation& call) {
  if (call.arguments.empty()) return help_text();
  const Command* command = find_command(call.arguments.front());
  if (command) return help_text(*command);
  return fault("there is no command " + call.arguments.front(), "`help` lists them all");
}

constexpr std::array kCommands{
    Command{"enable", "", "Record the program's next runs.",
            "Every later `run` or `process launch` of the selected target writes an experiment,\n"
            "test.N.er with the first free N, in the current directory.\n",
            false, run_enable},
    Command{"disable", "", "Stop recording later runs.",
            "A program that is being recorded goes on; the next run is not recorded.\n", false,
            run_disable},
    Command{"functions", "[--format text|json] [EXPERIMENT]",
            "Exclusive and inclusive User CPU time of functions.",
            "Exclusive: time in the function itself. Inclusive: time in it and in all it called,\n"
            "counted once however often the function recurs on a call stack. Without EXPERIMENT:\n"
            "the one being recorded, or the last one.\n",
            true, run_functions},
    Command{"status", "[--format text|json] [EXPERIMENT]",
            "What is recorded, how, and what was lost.", "", true, run_status},
    Command{"version", "", "Version of Gnomon.", "", false, run_version},
    Command{"help", "[COMMAND]", "This list, or what a command does.", "", false, run_help},
};

}  // namespace

std::span<const Command> command_table() { return kCommands; }

}  // namespace gnomon::commands
