// `gnomon print`: reports in the shell. The program's only thread.
#include "commands/print/print.h"

#include <fmt/format.h>

#include <algorithm>

#include "commands/base/help.h"
#include "commands/print/script.h"

namespace gnomon::commands {
namespace {

// A report, or a choice of what later ones show, and its own words.
struct Wanted {
  const Command* report;
  std::vector<std::string> words;
};

// The options are every report's.
struct Line {
  std::vector<Wanted> reports;
  std::vector<std::vector<std::string>> options;  // name and what it is given, or both in one
  std::vector<std::string> experiments;
  bool is_interactive = false;  // commands are read behind those of the line
};

// An option that no report knows is taken with the word behind it.
std::size_t length_of_option(std::span<const std::string> words) {
  const std::string name = words.front().substr(0, words.front().find('='));
  for (const Option& option : option_table())
    if (option.name == name) return length_of(option, words);
  return std::min<std::size_t>(words.size(), name == words.front() ? 2 : 1);
}

bool needs_word(const Command& command) {
  return command.role != Role::report && command.role != Role::self && command.arguments != 0;
}

Result<Line> read_line(const std::vector<std::string>& words) {
  Line line;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    const bool is_last = i + 1 == words.size();
    const Wanted* const last = line.reports.empty() ? nullptr : &line.reports.back();
    // A choice without a word says what is chosen; on a line it takes one.
    const bool must_have = last && needs_word(*last->report) && last->words.empty();
    const bool is_option = word.size() > 1 && word[0] == '-';
    const bool may_have =
        last && !is_last && !is_option && last->words.size() < last->report->arguments;
    const bool is_plain_end = is_last && !is_option && word != "-";
    if (!must_have && (is_experiment_name(word) || is_plain_end)) {
      line.experiments.push_back(word);
    } else if (must_have || may_have) {
      line.reports.back().words.push_back(word);
    } else if (word == "-") {
      line.is_interactive = true;
    } else if (is_option && word[1] != '-') {
      auto report = find_command(word.substr(1), true);
      if (!report) return tl::unexpected(report.error());
      line.reports.push_back({*report, {}});
    } else if (word.starts_with("--")) {
      const auto rest = std::span(words).subspan(i);
      const auto option = rest.first(length_of_option(rest));
      line.options.emplace_back(option.begin(), option.end());
      i += option.size() - 1;
    } else {
      return fault("unexpected argument " + word,
                   "the experiment comes last, a report's arguments follow its name");
    }
  }
  return line;
}

// The words that a report is called with: its own, and the line's options that the report takes.
// An option that no report of the line takes is given to each, so that the first says so.
std::vector<std::string> words_of(const Line& line, const Wanted& wanted) {
  const auto takes = [](const Command& report, const std::string& name) {
    for (const Option& option : option_table())
      if (option.name == name) return contains(report.options, option.id);
    return false;
  };
  std::vector<std::string> words = wanted.words;
  for (const auto& option : line.options) {
    const std::string name = option.front().substr(0, option.front().find('='));
    const bool none = std::none_of(line.reports.begin(), line.reports.end(),
                                   [&](const Wanted& any) { return takes(*any.report, name); });
    if (none || takes(*wanted.report, name))
      words.insert(words.end(), option.begin(), option.end());
  }
  return words;
}

// The value of the option --format, if it is a format; the reports complain if it is none.
std::optional<Format> format_of(const Line& line) {
  for (const auto& option : line.options) {
    const std::string& first = option.front();
    if (first == "--format" && option.size() == 2) return format_named(option[1]);
    if (first.starts_with("--format=")) return format_named(first.substr(first.find('=') + 1));
  }
  return std::nullopt;
}

// A choice that no report follows.
std::optional<std::string> idle_choice(const Line& line) {
  if (line.reports.empty()) return std::nullopt;
  const Wanted& last = line.reports.back();
  const Role role = last.report->role;
  if ((role != Role::view && role != Role::print_view) || last.words.empty()) return std::nullopt;
  return fmt::format("-{} is about the reports that follow it, and none does.", last.report->name);
}

}  // namespace

Result<Answer> print(const std::vector<std::string>& words) {
  auto line = read_line(words);
  if (!line) return tl::unexpected(line.error());
  if (line->reports.empty() && !line->options.empty())
    return fault("no report is named", "for example -functions");
  ShellHost host(line->experiments);
  run_defaults(host);
  if (line->reports.empty()) return run_interactively(host);
  if (const auto format = format_of(*line)) host.choice().format = *format;
  Answer all;
  if (auto idle = idle_choice(*line)) all.warnings.push_back(std::move(*idle));
  for (const Wanted& wanted : line->reports) {
    auto warnings = run_command(host, *wanted.report, words_of(*line, wanted));
    if (!warnings) return tl::unexpected(warnings.error());
    for (std::string& warning : *warnings)
      if (std::find(all.warnings.begin(), all.warnings.end(), warning) == all.warnings.end())
        all.warnings.push_back(std::move(warning));
    if (host.is_over()) break;
  }
  if (line->is_interactive && !host.is_over()) {
    if (auto done = run_interactively(host); !done) return done;
  }
  if (auto flushed = host.flush(); !flushed) return tl::unexpected(flushed.error());
  return all;
}

std::string print_help() {
  return "Syntax: gnomon print [OPTION]... [-COMMAND [WORD]...]... [EXPERIMENT]...\n\n" +
         wrapped(
             "Prints reports about an experiment, about several summed, or with each one's "
             "values beside the other's (`-compare on`). Each COMMAND is one of `gnomon help`, "
             "with "
             "its words behind it; commands are run from left to right, and what chooses "
             "(`-metrics LIST`, `-filters EXPRESSION`) holds for the reports behind it. "
             "OPTIONS are those of the reports, and hold for all that are named here.",
             "", "") +
         "\n" +
         wrapped(
             "`-script FILE` runs the commands of a file, a line each, without the dash. "
             "Without a COMMAND, or with a single -, commands are read from the standard "
             "input; on a terminal lines can be edited, the arrow keys bring back earlier ones, "
             "which ~/.gnomon_history keeps, and TAB completes names. `quit` ends.",
             "", "") +
         "\n" +
         wrapped(
             "At first the files /etc/er.rc, ~/.er.rc and .er.rc are read, in which a line "
             "chooses what reports show: `metrics` (or `dmetrics`), `sort` (or `dsort`), "
             "`limit`, `name`, `viewmode`, `printmode`, `inlines`, `kernel`, `sthresh`, `dthresh`, "
             "`setpath`, `addpath`, `pathmap`, `indxobj_define`, `object_hide` and the like.",
             "", "");
}

}  // namespace gnomon::commands
