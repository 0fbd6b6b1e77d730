// The command table: one row a command, served as `collector NAME` in LLDB and as `gnomon print
// -NAME`. Any thread.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "commands/host/format.h"
#include "commands/host/host.h"
#include "commands/host/words.h"
#include "reader/analysis/span.h"
#include "reader/base/result.h"
#include "reader/metrics/metric_list.h"

namespace gnomon::commands {

struct Invocation {
  std::vector<std::string> arguments;         // without options and experiment
  std::vector<std::string> experiments;       // or groups; none: the host knows
  std::optional<std::size_t> limit;           // none: the host's usual one
  std::optional<std::size_t> width;           // none: the host's
  std::optional<reader::MetricList> metrics;  // none: those of the host's choice
  std::optional<reader::Sort> sort;           // none: likewise
  reader::SpanChoice span;
  std::vector<std::string> filters;    // expressions; an event counts if all are true
  std::optional<Format> format;        // none: the host's choice
  std::optional<std::string> to;       // format of an export
  std::optional<std::string> output;   // file that an export is written to
  std::optional<std::uint32_t> here;   // lines to show on each side of the stop's; none: all lines
  std::optional<std::size_t> row;      // to set a breakpoint at: from 1; 0: an argument tells
  bool live = false;                   // what is allocated now
  bool waits = false;                  // for a process that is still to come
  std::uint64_t older_than = 0;        // ns
  std::optional<std::string> address;  // an expression
  WatchRequest watch;                  // without the expression
  std::string by;                      // what touches are listed by; empty: functions
};

struct Answer {
  std::string text;
  std::vector<std::string> warnings;  // what the format has no place for; sentences
};

// An option of reports.
enum class OptionId : std::uint8_t {
  format,
  limit,
  width,
  metrics,
  sort,
  since,
  between,
  filter,
  thread,
  cpu,
  function,
  to,
  output,
  here,
  at_row,
  live,
  older_than,
  address,
  parallelism,
  read,
  size,
  period,
  all_slots,
  by,
  wait_for,
};
using Options = std::uint64_t;  // a bit each
constexpr Options bit_of(OptionId id) { return Options{1} << static_cast<unsigned>(id); }
constexpr Options operator|(OptionId a, OptionId b) { return bit_of(a) | bit_of(b); }
constexpr Options operator|(Options a, OptionId b) { return a | bit_of(b); }
constexpr bool contains(Options options, OptionId id) { return (options & bit_of(id)) != 0; }

struct Option {
  OptionId id;
  std::string_view name, operand;
  std::string_view meaning;  // a sentence or more
  std::string_view needs;    // "a word; text and json are known"
  Result<void> (*set)(std::span<const std::string> words, Invocation& call);
  // How many words it takes if this is the first one (empty: there is none).
  std::size_t (*takes)(std::string_view first) = [](std::string_view) -> std::size_t { return 1; };
};

constexpr Options kNoOptions = 0;
constexpr Options kShown = OptionId::format | OptionId::width;
constexpr Options kListed = kShown | OptionId::limit;

// control: of recording; in the debugger. future: likewise, but this version cannot do that. view:
// what later reports show. print_view: likewise, in `gnomon print` alone. print: what `gnomon
// print` reads and where it writes. report: about an experiment. self: about Gnomon.
enum class Role { control, future, view, print_view, print, report, self };
constexpr bool is_in_print_alone(Role role) {
  return role == Role::print_view || role == Role::print;
}
constexpr bool is_in_print(Role role) { return role != Role::control && role != Role::future; }

constexpr std::size_t kAnyNumber = ~std::size_t{0};

struct Command {
  std::string_view name;
  std::string_view aliases;   // names that er_print has or had for it, blanks between
  std::string_view operands;  // "[NAME [NUMBER]]": what it takes besides options and experiment
  std::string_view summary;
  std::string_view help;  // a paragraph a line
  Options options;
  Role role;
  std::size_t arguments;  // most it takes, an experiment not counted; kAnyNumber: as many as come
  Result<Answer> (*run)(Host&, const Invocation&);
};

// All rows, and those of the groups.
std::span<const Command> command_table();
std::span<const Command> control_commands();
std::span<const Command> report_commands();
std::span<const Command> heap_commands();
std::span<const Command> sync_commands();
std::span<const Command> touch_commands();
std::span<const Command> io_commands();
std::span<const Command> stop_commands();
std::span<const Command> view_commands();
std::span<const Command> selection_commands();
std::span<const Command> output_commands();
std::span<const Command> export_commands();
std::span<const Option> option_table();

// An option as it stands on a line: `--name word...` or `--name=word...`. Returns how many of the
// words are the option's, its name counted; fewer than the option needs if the line ends before.
std::size_t length_of(const Option& option, std::span<const std::string> words);

// Returns true if it is the command's name or one of its aliases.
bool is_called(const Command& command, std::string_view name);

// By its name or an alias, or by the beginning of just one name. for_print: among those that
// `gnomon print` takes.
Result<const Command*> find_command(std::string_view name, bool for_print = false);

// Returns true if the word ends as experiments and groups of them do: .er, .erg.
bool is_experiment_name(std::string_view word);

// Splits options, arguments and a report's experiments: what ends in .er or .erg, or follows the
// last argument. `words`: what follows the command's name.
Result<Invocation> parse(const Command& command, std::span<const std::string> words);

// A table as the answer to a command, in its format; without text if the host prints it as it
// comes.
Result<Answer> render(Host& host, const Invocation& call, const reader::Table& table);

// Parses and runs.
Result<Answer> execute(Host& host, const Command& command, std::span<const std::string> words);

// "did you mean NAME?" where a known word is near, else `otherwise`.
std::string suggestion(std::string_view word, std::span<const std::string_view> known,
                       std::string_view otherwise);

}  // namespace gnomon::commands
