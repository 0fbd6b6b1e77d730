// The command table and what each row runs. Any thread.
#include <fmt/format.h>

#include <array>

#include "commands/command.h"
#include "reader/report/report.h"
#include "reader/symbols/symbol_index.h"

namespace gnomon::commands {
namespace {

using reader::Table;

std::string render(const Table& table, Format format) {
  return format == Format::json ? to_json(table) : to_text(table);
}

Result<std::string> directory_of(Host& host, const Invocation& call) {
  return call.experiment ? Result<std::string>(*call.experiment) : host.experiment();
}

std::size_t limit_of(const Host& host, const Invocation& call) {
  return call.limit.value_or(host.usual_limit());
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
  } else if (call.experiment || host.state().empty()) {
    return tl::unexpected(directory.error());
  } else {
    table.columns = {{"item", {}}, {"value", {}}};
  }
  if (const std::string state = host.state(); !call.experiment && !state.empty())
    table.rows.insert(table.rows.begin(), {std::string("Collector"), state});
  return render(table, call.format);
}

// What is about an experiment and takes a limit.
template <Result<Table> (*Report)(const std::string&, std::size_t)>
Result<std::string> run_report(Host& host, const Invocation& call) {
  auto directory = directory_of(host, call);
  if (!directory) return directory;
  auto table = Report(*directory, limit_of(host, call));
  if (!table) return tl::unexpected(table.error());
  return render(*table, call.format);
}

// NAME [N]
Result<std::string> run_csingle(Host& host, const Invocation& call) {
  auto directory = directory_of(host, call);
  if (!directory) return directory;
  auto name = call.arguments.empty() ? host.function() : call.arguments.front();
  if (!name) return name;
  if (call.arguments.empty()) name = reader::display_name(name->c_str());
  std::size_t number = 0;
  if (call.arguments.size() > 1) {
    number = whole_number(call.arguments[1]).value_or(0);
    if (number == 0)
      return fault(call.arguments[1] + " is not the number of a function",
                   "functions are counted from 1");
  }
  auto table = reader::csingle_report(*directory, *name, number);
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

#define REPORT_OPTIONS "[--format text|json] [--limit N] [EXPERIMENT]"
#define REPORT_HELP                                                                        \
  "Without EXPERIMENT: the one being recorded, or the last one. --limit 0 shows all; in\n" \
  "LLDB the usual limit is 40.\n"

constexpr std::array kCommands{
    Command{"enable", "", "Record the program's next runs.",
            "Every later `run` or `process launch` of the selected target writes an experiment,\n"
            "test.N.er with the first free N, in the current directory.\n",
            false, 0, run_enable},
    Command{"disable", "", "Stop recording later runs.",
            "A program that is being recorded goes on; the next run is not recorded.\n", false, 0,
            run_disable},
    Command{"functions", REPORT_OPTIONS, "Exclusive and inclusive User CPU time of functions.",
            "Exclusive: time in the function itself. Inclusive: time in it and in all it called,\n"
            "counted once however often the function recurs on a call stack.\n" REPORT_HELP,
            true, 0, run_report<reader::functions_report>},
    Command{"callers-callees", REPORT_OPTIONS, "What callers and callees contribute to functions.",
            "One panel a function, heavy ones first: its callers, the function itself marked with\n"
            "*, its callees. The attributed times of the callers sum up to the inclusive time of\n"
            "the function; so do its own and those of the callees. Of a function that recurs on a\n"
            "call stack the innermost call counts. N counts functions.\n" REPORT_HELP,
            true, 0, run_report<reader::callers_callees_report>},
    Command{"csingle", "[NAME [NUMBER]] [--format text|json] [EXPERIMENT]",
            "What callers and callees contribute to one function.",
            "NAME as in `functions`, or its end, without parameters if you like. Where it means\n"
            "several functions NUMBER says which. Without NAME: the function of the selected\n"
            "frame.\n",
            true, 2, run_csingle},
    Command{"calltree", REPORT_OPTIONS, "Who calls whom, with attributed User CPU time.",
            "From <Total> down, heavy branches first. The time of a call includes all below it.\n"
            "N shows the N heaviest calls.\n" REPORT_HELP,
            true, 0, run_report<reader::calltree_report>},
    Command{"status", "[--format text|json] [EXPERIMENT]",
            "What is recorded, how, and what was lost.", "", true, 0, run_status},
    Command{"version", "", "Version of Gnomon.", "", false, 0, run_version},
    Command{"help", "[COMMAND]", "This list, or what a command does.", "", false, 1, run_help},
};

}  // namespace

std::span<const Command> command_table() { return kCommands; }

}  // namespace gnomon::commands
