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

#include "reader/base/interrupt.h"
#include "reader/base/result.h"
#include "reader/table/table.h"

namespace gnomon::commands {

// What a command needs to know of the place it runs in. The plugin and the gnomon program each
// have one.
class Host {
 public:
  virtual ~Host() = default;
  // Arm and disarm collecting; each answers with a sentence for the user.
  virtual Result<std::string> enable() = 0;
  virtual Result<std::string> disable() = 0;
  // Brings the collector into a running process, and the debugger after it.
  virtual Result<std::string> attach(std::int32_t pid) = 0;
  // Directory of the experiment that a report without an argument is about.
  virtual Result<std::string> experiment() = 0;
  // Symbol of the function, mangled or not, that a report is about when none is named.
  virtual Result<std::string> function() = 0;
  // Rows of a report when nothing is said; 0: all.
  virtual std::size_t default_limit() const = 0;
  // Of text, when nothing is said.
  virtual reader::TextStyle style() const = 0;
  // Whether the user wants long work to end.
  virtual Interrupt interrupt() const = 0;
  // What `status` says besides the experiment; empty: nothing.
  virtual std::string state() = 0;
};

enum class Format { text, json, csv };

struct Invocation {
  std::vector<std::string> arguments;     // without options and experiment
  std::optional<std::string> experiment;  // none: the host knows
  std::optional<std::size_t> limit;       // none: the host's usual one
  std::optional<std::size_t> width;       // none: the host's
  Format format = Format::text;
};

struct Answer {
  std::string text;
  std::vector<std::string> warnings;  // what the format has no place for; sentences
};

// An option of reports.
enum class OptionId : std::uint32_t { format = 1, limit = 2, width = 4 };
using Options = std::uint32_t;  // OptionIds
constexpr Options operator|(OptionId a, OptionId b) { return Options(a) | Options(b); }
constexpr Options operator|(Options a, OptionId b) { return a | Options(b); }
constexpr bool contains(Options options, OptionId id) { return (options & Options(id)) != 0; }

struct Option {
  OptionId id;
  std::string_view name, operand;
  std::string_view meaning;  // a sentence or more
  std::string_view needs;    // "a word; text and json are known"
  Result<void> (*set)(std::string_view word, Invocation& call);
};

struct Command {
  std::string_view name;
  std::string_view alias;     // er_print's short name; may be empty
  std::string_view operands;  // "[NAME [NUMBER]]": what it takes besides options and experiment
  std::string_view summary;
  std::string_view help;  // a paragraph a line
  Options options;
  bool is_report;         // about an experiment; also outside the debugger
  std::size_t arguments;  // most it takes, an experiment not counted
  Result<Answer> (*run)(Host&, const Invocation&);
};

std::span<const Command> command_table();
std::span<const Option> option_table();

// By its name or alias, or by the beginning of just one name.
Result<const Command*> find_command(std::string_view name, bool only_reports = false);

// Splits options, arguments and experiment: what ends in .er, or follows the last argument.
// `words`: what follows the command's name.
Result<Invocation> parse(const Command& command, std::span<const std::string> words);

// Parses and runs.
Result<Answer> execute(Host& host, const Command& command, std::span<const std::string> words);

// A whole number in decimal digits and nothing else.
std::optional<std::size_t> whole_number(std::string_view word);

// "did you mean NAME?" where a known word is near, else `otherwise`.
std::string suggestion(std::string_view word, std::span<const std::string_view> known,
                       std::string_view otherwise);

}  // namespace gnomon::commands
