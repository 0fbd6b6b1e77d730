// The command table: one row a command, served as `collector NAME` in LLDB and as `gnomon print
// -NAME`. Any thread.
#pragma once
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "reader/base/result.h"

namespace gnomon::commands {

// What a command needs to know of the place it runs in. The plugin and the gnomon program each
// have one.
class Host {
 public:
  virtual ~Host() = default;
  // Arm and disarm collecting; each answers with a sentence for the user.
  virtual Result<std::string> enable() = 0;
  virtual Result<std::string> disable() = 0;
  // Directory of the experiment that a report without an argument is about.
  virtual Result<std::string> experiment() = 0;
  // Symbol of the function, mangled or not, that a report is about when none is named.
  virtual Result<std::string> function() = 0;
  // Rows of a report when nothing is said; 0: all.
  virtual std::size_t usual_limit() const = 0;
  // What `status` says besides the experiment; empty: nothing.
  virtual std::string state() = 0;
};

enum class Format { text, json };

struct Invocation {
  std::vector<std::string> arguments;     // without options and experiment
  std::optional<std::string> experiment;  // none: the host knows
  std::optional<std::size_t> limit;       // none: the host's usual one
  Format format = Format::text;
};

struct Command {
  std::string_view name;
  std::string_view syntax;  // what follows the name
  std::string_view summary;
  std::string_view help;
  bool is_report;         // about an experiment; also outside the debugger
  std::size_t arguments;  // most it takes, an experiment not counted
  Result<std::string> (*run)(Host&, const Invocation&);
};

std::span<const Command> command_table();
const Command* find_command(std::string_view name);

// Splits options, arguments and experiment: what ends in .er, or follows the last argument.
// `words`: what follows the command's name.
Result<Invocation> parse(const Command& command, std::span<const std::string> words);

// Parses and runs.
Result<std::string> execute(Host& host, const Command& command, std::span<const std::string> words);

// A whole number in decimal digits and nothing else.
std::optional<std::size_t> whole_number(std::string_view word);

// "; did you mean NAME?" where a known word is near, else where to find them all.
std::string suggestion(std::string_view word, std::span<const std::string_view> known,
                       std::string_view otherwise);

// The list of commands, or the help of one.
std::string help_text();
std::string help_text(const Command& command);

}  // namespace gnomon::commands
