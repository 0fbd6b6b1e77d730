// The command table and what each row runs. Any thread.
#include <array>
#include <limits>

#include "commands/command.h"
#include "commands/help.h"
#include "reader/report/report.h"
#include "reader/symbols/display_name.h"

namespace gnomon::commands {
namespace {

using reader::Table;

// CSV has rows only: what stands above and below a table becomes warnings.
Result<std::string> text_of(const Host& host, const Invocation& call, const Table& table) {
  if (call.format == Format::json) return to_json(table, host.interrupt());
  if (call.format == Format::csv) return to_csv(table, host.interrupt());
  reader::TextStyle style = host.style();
  style.width = call.width.value_or(style.width);
  return to_text(table, style, host.interrupt());
}

// CSV has no room for notes.
Result<Answer> render(const Host& host, const Invocation& call, const Table& table) {
  auto text = text_of(host, call, table);
  if (!text) return tl::unexpected(text.error());
  Answer answer{std::move(*text), {}};
  if (call.format != Format::csv) return answer;
  answer.warnings = table.notes;
  if (const std::string note = left_out_note(table); !note.empty()) answer.warnings.push_back(note);
  return answer;
}

Result<std::string> directory_of(Host& host, const Invocation& call) {
  return call.experiment ? Result<std::string>(*call.experiment) : host.experiment();
}

Result<reader::Query> query_of(Host& host, const Invocation& call) {
  auto directory = directory_of(host, call);
  if (!directory) return tl::unexpected(directory.error());
  return reader::Query{*directory, call.limit.value_or(host.default_limit()), host.interrupt()};
}

Result<Answer> sentence_of(Result<std::string> said) {
  if (!said) return tl::unexpected(said.error());
  return Answer{*said, {}};
}

Result<Answer> run_enable(Host& host, const Invocation&) { return sentence_of(host.enable()); }
Result<Answer> run_disable(Host& host, const Invocation&) { return sentence_of(host.disable()); }

Result<Answer> run_attach(Host& host, const Invocation& call) {
  const std::string word = call.arguments.empty() ? "" : call.arguments.front();
  const auto number = whole_number(word).value_or(0);
  if (word.empty()) return fault("no process is named", "give its number; `ps` lists them");
  if (number == 0 || number > std::numeric_limits<std::int32_t>::max())
    return fault(word + " is not the number of a process", "`ps` lists them");
  return sentence_of(host.attach(static_cast<std::int32_t>(number)));
}

Result<Answer> run_status(Host& host, const Invocation& call) {
  const std::string state = call.experiment ? "" : host.state();
  const auto query = query_of(host, call);
  if (!query && state.empty()) return tl::unexpected(query.error());
  Table table;
  table.columns = {{"item", {}}, {"value", {}}};
  if (query) {
    auto report = reader::status_report(*query);
    if (!report) return tl::unexpected(report.error());
    table = std::move(*report);
  }
  if (!state.empty()) table.rows.insert(table.rows.begin(), {std::string("Collector"), state});
  return render(host, call, table);
}

// What is about an experiment and takes a limit.
template <Result<Table> (*Report)(const reader::Query&)>
Result<Answer> run_report(Host& host, const Invocation& call) {
  const auto query = query_of(host, call);
  if (!query) return tl::unexpected(query.error());
  const auto table = Report(*query);
  if (!table) return tl::unexpected(table.error());
  return render(host, call, *table);
}

// NAME [NUMBER]
Result<Answer> run_csingle(Host& host, const Invocation& call) {
  const auto query = query_of(host, call);
  if (!query) return tl::unexpected(query.error());
  auto name = call.arguments.empty() ? host.function() : call.arguments.front();
  if (!name) return tl::unexpected(name.error());
  if (call.arguments.empty()) name = reader::display_name(name->c_str());
  std::size_t number = 0;
  if (call.arguments.size() > 1) {
    number = whole_number(call.arguments[1]).value_or(0);
    if (number == 0)
      return fault(call.arguments[1] + " is not the number of a function",
                   "functions are counted from 1");
  }
  const auto table = reader::csingle_report(*query, *name, number);
  if (!table) return tl::unexpected(table.error());
  return render(host, call, *table);
}

Result<Answer> run_version(Host&, const Invocation&) {
  return Answer{"Gnomon " GNOMON_VERSION "\n", {}};
}

Result<Answer> run_help(Host&, const Invocation& call) {
  if (call.arguments.empty()) return Answer{help_text(), {}};
  const auto command = find_command(call.arguments.front());
  if (!command) return tl::unexpected(command.error());
  return Answer{help_text(**command), {}};
}

constexpr Options kNone = 0;
constexpr Options kShown = OptionId::format | OptionId::width;
constexpr Options kAll = kShown | OptionId::limit;

constexpr std::array kCommands{
    Command{
        "enable", "", "", "Record the process that runs, and the program's next runs.",
        "A process that is stopped, attached to or launched, is recorded from here on. Every later "
        "`run` or `process launch` of the selected target is recorded from its beginning. Each "
        "writes an experiment, test.N.er with the first free N, in the current directory.\n\n"
        "After `detach`, and without the debugger, the recording goes on until the process ends. "
        "A later debugger's reports and `collector disable` are about it, as soon as it has "
        "attached to the process; `gnomon collect -P PID -e` ends it, too.\n",
        kNone, false, 0, run_enable},
    Command{
        "disable", "", "", "Stop recording.",
        "The experiment of the process that runs ends here. A stopped process gets back what the "
        "collector had of it: signal actions and masks, timers, the calls that went through it; "
        "the library stays, unused. `collector enable` begins another experiment. Later runs "
        "are not recorded.\n",
        kNone, false, 0, run_disable},
    Command{"attach", "", "PID", "Record a process that runs, then attach LLDB to it.",
            "As `process attach` and `collector enable`, but the collector comes first: while it "
            "does, one thread of the process at a time stands still, for a millisecond or two, and "
            "the others run.\n",
            kNone, false, 1, run_attach},
    Command{
        "functions", "", "", "Exclusive and inclusive User CPU time of functions.",
        "Exclusive: time in the function itself. Inclusive: time in it and in all it called, "
        "counted once however often the function recurs on a call stack.\n\nThe clock of a thread "
        "counts what the kernel does for it as well: that time is the function's that entered the "
        "kernel.\n",
        kAll, true, 0, run_report<reader::functions_report>},
    Command{"callers-callees", "gprof", "", "What callers and callees contribute to functions.",
            "One panel a function, heavy ones first: its callers, the function itself marked with "
            "*, its callees. The attributed times of the callers sum up to the inclusive time of "
            "the function; so do its own and those of the callees. Of a function that recurs on a "
            "call stack the innermost call counts.\n",
            kAll, true, 0, run_report<reader::callers_callees_report>},
    Command{"csingle", "", "[NAME [NUMBER]]",
            "What callers and callees contribute to one function.",
            "NAME as in `functions`, or its end, without parameters if you like. Where it means "
            "several functions NUMBER says which. Without NAME: the function of the selected "
            "frame.\n",
            kShown, true, 2, run_csingle},
    Command{"calltree", "ctree", "", "Who calls whom, with attributed User CPU time.",
            "From <Total> down, heavy branches first. The time of a call includes all below it. A "
            "limit keeps the heaviest calls.\n",
            kAll, true, 0, run_report<reader::calltree_report>},
    Command{"status", "", "", "What is recorded, how, and what was lost.", "", kShown, true, 0,
            run_status},
    Command{"version", "", "", "Version of Gnomon.", "", kNone, false, 0, run_version},
    Command{"help", "", "[COMMAND]", "This list, or what a command does.", "", kNone, false, 1,
            run_help},
};

}  // namespace

std::span<const Command> command_table() { return kCommands; }

}  // namespace gnomon::commands
