// The options of `gnomon collect`, and what they say. Any thread.
#include "commands/collect/collect_options.h"

#include <fmt/format.h>
#include <getopt.h>

#include <algorithm>
#include <array>
#include <limits>
#include <string_view>

#include "commands/base/command.h"
#include "commands/base/help.h"
#include "commands/collect/setting_words.h"

namespace gnomon::commands {
namespace {

using format::SettingRow;

using Set = Result<void> (*)(const std::string& word, CollectLine& line);

// operand: empty, the option takes none.
struct OptionRow {
  char letter;
  std::string_view long_name, operand, sentence;
  Set set;
};

template <bool CollectLine::*Flag>
Result<void> set_flag(const std::string&, CollectLine& line) {
  line.*Flag = true;
  return {};
}

Result<void> set_output(const std::string& word, CollectLine& line) {
  return set_experiment(word, line.settings);
}

Result<void> set_overwrite(const std::string& word, CollectLine& line) {
  line.is_over_existing = true;
  return set_experiment(word, line.settings);
}

Result<void> set_process(const std::string& word, CollectLine& line) {
  const auto number = whole_number(word);
  if (!number || *number == 0 || *number > std::numeric_limits<pid_t>::max())
    return fault(word + " is not the number of a process", "`ps` lists them");
  line.process = static_cast<pid_t>(*number);
  return {};
}

Result<void> add_comment(const std::string& word, CollectLine& line) {
  constexpr std::size_t kMost = 10;
  if (line.settings.notes.size() == kMost)
    return fault(fmt::format("-C can be given {} times", kMost),
                 "text can be added to the experiment's file `notes` later");
  line.settings.notes.push_back(word);
  return {};
}

Result<void> add_counters(const std::string& word, CollectLine& line) {
  auto& words = line.settings.counter_words;
  if (word == "off" || word.empty()) {
    words.clear();
    return {};
  }
  words.push_back(word == "on" ? "cycles" : word);
  return {};
}

constexpr std::array kCollectOptions{
    OptionRow{'h', "hwprofile", "on|off|DEF[,DEF]...",
              "Count events of the processor or the kernel, with a sample each so many: on is "
              "cycles, DEF is NAME or NAME,INTERVAL, where INTERVAL is a number, hi or lo. `gnomon "
              "collect -h` alone lists what counts here. Without -p the clock is off meanwhile.",
              add_counters},
    OptionRow{'o', "output", "NAME.er",
              "Write that experiment. Of NAME.7.er the first free number from 7 on is taken; "
              "without -o it is test.N.er.",
              set_output},
    OptionRow{'O', "overwrite", "NAME.er", "The same, but in place of an experiment of that name.",
              set_overwrite},
    OptionRow{'d', "directory", "DIRECTORY",
              "Write experiments there; without -d in the current directory.",
              [](const std::string& word, CollectLine& line) {
                return set_directory(word, line.settings);
              }},
    OptionRow{
        'g', "group", "NAME.erg",
        "Add the experiment to that group, a file that lists experiments; their usual name "
        "becomes that of the group.",
        [](const std::string& word, CollectLine& line) { return set_group(word, line.settings); }},
    OptionRow{'C', "comment", "TEXT",
              "Put a line into the experiment's notes, which `header` shows first; ten times at "
              "most.",
              add_comment},
    OptionRow{'x', "stopped", "",
              "Leave the program stopped before it begins, so that a debugger can attach.",
              set_flag<&CollectLine::is_stopped>},
    OptionRow{'n', "dry-run", "", "Show the settings, and run nothing.",
              set_flag<&CollectLine::is_trial>},
    OptionRow{'v', "verbose", "", "Show the version and the settings, too.",
              set_flag<&CollectLine::is_verbose>},
    OptionRow{'V', "version", "", "Show the version, and run nothing.",
              set_flag<&CollectLine::wants_version>},
    OptionRow{'P', "pid", "PID",
              "Record a process that runs, until Ctrl-C, its end or the end of -t; this program "
              "waits as long.",
              set_process},
    OptionRow{'e', "end", "", "With -P: end what records the process, whoever began that.",
              set_flag<&CollectLine::is_end>},
};

// Options of the original for data that this version does not collect. `off` is possible.
struct FutureOption {
  char letter;
  std::string_view what;
};
constexpr std::array kFuture{
    FutureOption{'M', "trace MPI calls"},      FutureOption{'m', "trace MPI calls"},
    FutureOption{'c', "count instructions"},   FutureOption{'I', "count instructions"},
    FutureOption{'N', "count instructions"},   FutureOption{'r', "detect data races"},
    FutureOption{'F', "follow descendants"},   FutureOption{'j', "record Java methods"},
    FutureOption{'J', "record Java methods"},  FutureOption{'A', "archive load objects"},
    FutureOption{'a', "archive load objects"},
};

Result<void> set_future(const FutureOption& option, std::string_view word) {
  if (word == "off") return {};
  return fault(fmt::format("-{}: this version of Gnomon cannot {}", option.letter, option.what),
               "`gnomon collect` without a word lists what can be chosen");
}

Result<void> set_setting(const SettingRow& row, const std::string& word, CollectLine& line) {
  auto warning = set_value(row.setting, word, line.settings.values);
  if (!warning) return tl::unexpected(warning.error());
  if (!warning->empty()) line.warnings.push_back(*warning + ".");
  line.settings.has_chosen_clock |= row.setting == format::Setting::profile;
  return {};
}

Result<void> set(char letter, const std::string& word, CollectLine& line) {
  for (const SettingRow& row : format::kSettings)
    if (!row.option.empty() && row.option[1] == letter) return set_setting(row, word, line);
  for (const FutureOption& row : kFuture)
    if (row.letter == letter) return set_future(row, word);
  const auto at = std::find_if(kCollectOptions.begin(), kCollectOptions.end(),
                               [&](const OptionRow& row) { return row.letter == letter; });
  return at->set(word, line);
}

// What getopt_long(3) takes: options end at the first other word, and a missing operand is told
// from an unknown option.
struct Known {
  std::string letters = "+:";
  std::vector<std::string> names;
  std::vector<option> options;
};

Known known_options() {
  Known known;
  std::vector<std::pair<char, bool>> of_names;
  const auto add = [&](char letter, std::string_view name, bool has_operand) {
    known.letters += letter;
    if (has_operand) known.letters += ':';
    if (name.empty()) return;
    known.names.emplace_back(name);
    of_names.emplace_back(letter, has_operand);
  };
  for (const SettingRow& row : format::kSettings)
    if (!row.option.empty()) add(row.option[1], row.long_option.substr(2), true);
  for (const OptionRow& row : kCollectOptions) add(row.letter, row.long_name, !row.operand.empty());
  for (const FutureOption& row : kFuture) add(row.letter, "", true);
  for (std::size_t i = 0; i < known.names.size(); ++i)
    known.options.push_back({known.names[i].c_str(),
                             of_names[i].second ? required_argument : no_argument, nullptr,
                             of_names[i].first});
  known.options.push_back({});
  return known;
}

constexpr const char* kOptionsAreListed = "`gnomon collect` without a word lists the options";

// Returns the Fault of an option that the table lacks. word: the argument that getopt_long(3)
// refused.
// letter: optopt, the short option in that word, or 0 if the word is an unknown long option.
// Returns the Fault of an option whose operand is missing. word: the argument with that option.
Result<void> without_operand(char letter, const std::string& word) {
  for (const FutureOption& row : kFuture)
    if (row.letter == letter) return set_future(row, "");
  return fault(fmt::format("{} needs an operand", word), kOptionsAreListed);
}

tl::unexpected<Fault> unknown(const Known& known, const std::string& word, int letter) {
  if (!word.starts_with("--") && letter != 0)
    return fault(fmt::format("gnomon collect has no option -{}", static_cast<char>(letter)),
                 kOptionsAreListed);
  const std::string name = word.substr(0, word.find('='));
  if (letter != 0) return fault(fmt::format("{} takes no operand", name), kOptionsAreListed);
  std::vector<std::string> dashed;
  for (const std::string& each : known.names) dashed.push_back("--" + each);
  const auto begins = std::count_if(dashed.begin(), dashed.end(), [&](const std::string& each) {
    return each.starts_with(name);
  });
  const std::vector<std::string_view> views(dashed.begin(), dashed.end());
  if (begins > 1)
    return fault(fmt::format("{} is the beginning of several options", name), kOptionsAreListed);
  return fault(fmt::format("gnomon collect has no option {}", name),
               suggestion(name, views, kOptionsAreListed));
}

Result<CollectLine> checked(CollectLine line) {
  const bool has_program = !line.program.empty();
  if (line.process != 0 && has_program)
    return fault(fmt::format("-P records process {}, so {} cannot be started, too", line.process,
                             line.program.front()),
                 "omit one of them");
  if (line.process != 0 && line.is_stopped)
    return fault("-x is about programs that are started", "omit it, or -P");
  if (line.is_end && line.process == 0)
    return fault("-e needs the process whose recording is to end", "-P PID names it");
  if (!line.settings.counter_words.empty() && !line.settings.has_chosen_clock)
    line.settings.values[format::Setting::profile] = 0;
  if (line.settings.values[format::Setting::profile] == 0 && line.settings.counter_words.empty())
    line.warnings.emplace_back("Without a clock there are samples of the process alone.");
  return line;
}

}  // namespace

Result<CollectLine> read_collect_line(std::span<const std::string> words) {
  const Known known = known_options();
  std::vector<char*> pointers{const_cast<char*>("gnomon collect")};
  for (const std::string& word : words) pointers.push_back(const_cast<char*>(word.c_str()));
  const int count = static_cast<int>(pointers.size());
  pointers.push_back(nullptr);
  CollectLine line;
  opterr = 0;
  optind = 0;  // glibc begins anew
  int options = 0;
  for (;; ++options) {
    const int first = std::max(optind, 1);
    const int letter =
        getopt_long(count, pointers.data(), known.letters.c_str(), known.options.data(), nullptr);
    if (letter == -1) break;
    if (letter == '?') return unknown(known, pointers[static_cast<std::size_t>(first)], optopt);
    const auto done = letter == ':' ? without_operand(static_cast<char>(optopt),
                                                      pointers[static_cast<std::size_t>(first)])
                                    : set(static_cast<char>(letter), optarg ? optarg : "", line);
    if (!done) return tl::unexpected(done.error());
  }
  if (line.is_end && options > 2)
    return fault("-e records nothing, and goes with -P alone", "omit the other options");
  line.program.assign(words.begin() + (optind - 1), words.end());
  return checked(std::move(line));
}

std::string collect_syntax() {
  return "gnomon collect [OPTION]... PROGRAM [ARGUMENT]...\n"
         "gnomon collect [OPTION]... -P PID\n"
         "gnomon collect -P PID -e\n";
}

std::string collect_options_text() {
  std::string text;
  const auto add = [&](char letter, std::string_view name, std::string_view operand,
                       std::string_view sentence) {
    text += fmt::format("  -{}, --{}{}{}\n", letter, name, operand.empty() ? "" : " ", operand);
    text += wrapped(sentence, "      ", "      ");
  };
  for (const SettingRow& row : format::kSettings)
    if (!row.option.empty())
      add(row.option[1], row.long_option.substr(2), row.operand, row.sentence);
  for (const OptionRow& row : kCollectOptions)
    add(row.letter, row.long_name, row.operand, row.sentence);
  return text;
}

}  // namespace gnomon::commands
