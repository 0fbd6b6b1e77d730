// The program gnomon: recording and reports outside the debugger.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <sstream>
#include <string>
#include <vector>

#include "commands/collect.h"
#include "commands/disassembler.h"
#include "commands/help.h"
#include "commands/terminal.h"

namespace {

using namespace gnomon;
using namespace gnomon::commands;

tl::unexpected<Fault> cannot_write() {
  return fault(fmt::format("cannot write: {}", std::strerror(errno)));
}

class ShellHost : public Host {
 public:
  explicit ShellHost(std::string experiment = {}) : experiment_(std::move(experiment)) {}
  Result<std::string> experiment() override {
    if (!experiment_.empty()) return experiment_;
    return fault("no experiment is named", "end the line with one, such as test.1.er");
  }
  Result<std::string> function() override {
    return fault("no function is named", "name one, as `gnomon print -functions` shows it");
  }
  std::size_t default_limit() const override { return 0; }
  reader::TextStyle style() const override { return terminal_style(STDOUT_FILENO); }
  Interrupt interrupt() const override { return {}; }  // SIGINT ends this program
  std::string state() override { return ""; }
  Result<reader::Disassembler*> disassembler() override { return load_disassembler(); }
  reader::Put printer() override {
    if (!is_printing_) return {};
    is_blank_due_ = has_printed_;
    return [this](std::string_view piece) { return put(piece); };
  }
  // What `printer` takes is printed from now on.
  void set_printing(bool is_printing) { is_printing_ = is_printing; }
  // The same for what was kept; a blank line sets it off from what was printed before.
  Result<void> put_answer(const std::string& text) {
    is_blank_due_ = has_printed_;
    return text.empty() ? Result<void>() : put(text);
  }

 private:
  Result<void> put(std::string_view piece) {
    if (is_blank_due_) std::fputc('\n', stdout);
    is_blank_due_ = false;
    has_printed_ = true;
    if (std::fwrite(piece.data(), 1, piece.size(), stdout) == piece.size()) return {};
    return cannot_write();
  }

  std::string experiment_;
  bool is_printing_ = false, has_printed_ = false, is_blank_due_ = false;
};

std::string usage() {
  std::istringstream forms("gnomon print [OPTION]... -REPORT... EXPERIMENT\n" + collect_syntax() +
                           "gnomon help [COMMAND]\ngnomon version\n");
  std::string text;
  for (std::string form; std::getline(forms, form);)
    text += (text.empty() ? "Usage: " : "       ") + form + "\n";
  return text +
         "\ncollect records a program from its beginning, or a process that runs, without a "
         "debugger.\n"
         "`gnomon collect` lists its options. print shows what was recorded.\n\n"
         "Example: gnomon collect -o try.er ./program\n"
         "         gnomon print -functions try.er\n";
}

// A report, or a choice of what later ones show, and its own words.
struct Wanted {
  const Command* report;
  std::vector<std::string> words;
};

// The options are every report's.
struct Line {
  std::vector<Wanted> reports;
  std::vector<std::vector<std::string>> options;  // name and what it is given, or both in one
  std::string experiment;
};

// An option that no report knows is taken with the word behind it.
std::size_t length_of_option(std::span<const std::string> words) {
  const std::string name = words.front().substr(0, words.front().find('='));
  for (const Option& option : option_table())
    if (option.name == name) return length_of(option, words);
  return std::min<std::size_t>(words.size(), name == words.front() ? 2 : 1);
}

Result<Line> read_line(const std::vector<std::string>& words) {
  Line line;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    const bool is_last = i + 1 == words.size();
    const Wanted* const last = line.reports.empty() ? nullptr : &line.reports.back();
    const bool must_have = last && last->report->role != Role::report && last->words.empty();
    const bool is_option = word.size() > 1 && word[0] == '-';
    const bool may_have =
        last && !is_last && !is_option && last->words.size() < last->report->arguments;
    if (must_have || may_have) {
      line.reports.back().words.push_back(word);
    } else if (word.size() > 1 && word[0] == '-' && word[1] != '-') {
      auto report = find_command(word.substr(1), true);
      if (!report) return tl::unexpected(report.error());
      line.reports.push_back({*report, {}});
    } else if (word.starts_with("--")) {
      const auto rest = std::span(words).subspan(i);
      const auto option = rest.first(length_of_option(rest));
      line.options.emplace_back(option.begin(), option.end());
      i += option.size() - 1;
    } else if (is_last) {
      line.experiment = word;
    } else {
      return fault("unexpected argument " + word,
                   "the experiment comes last, a report's arguments follow its name");
    }
  }
  return line;
}

// An option goes to the reports that take it; one that none takes, to the first, which says so.
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

Result<Answer> print(const std::vector<std::string>& words) {
  auto line = read_line(words);
  if (!line) return tl::unexpected(line.error());
  ShellHost host(line->experiment);
  Answer all;
  const bool none = std::none_of(line->reports.begin(), line->reports.end(), [](const Wanted& any) {
    return any.report->role == Role::report;
  });
  if (none) return fault("no report is named", "for example -functions");
  const bool has_format =
      std::any_of(line->options.begin(), line->options.end(),
                  [](const auto& option) { return option.front().starts_with("--format"); });
  const Wanted& last = line->reports.back();
  if (last.report->role != Role::report && !last.words.empty())
    all.warnings.push_back(
        fmt::format("-{} is about the reports that follow it, and none does.", last.report->name));
  for (const Wanted& wanted : line->reports) {
    // A reader of JSON or CSV wants the reports alone.
    const bool is_shown = !has_format || wanted.report->role == Role::report;
    host.set_printing(is_shown);
    auto answer = execute(host, *wanted.report, words_of(*line, wanted));
    if (!answer) return answer;
    if (!is_shown) continue;
    if (auto printed = host.put_answer(answer->text); !printed)
      return tl::unexpected(printed.error());
    for (std::string& warning : answer->warnings)
      if (std::find(all.warnings.begin(), all.warnings.end(), warning) == all.warnings.end())
        all.warnings.push_back(std::move(warning));
  }
  return all;
}

Result<Answer> run(const std::vector<std::string>& words) {
  const std::string verb = words.empty() ? "" : words.front();
  const std::vector<std::string> rest(words.empty() ? words.end() : words.begin() + 1, words.end());
  if (verb == "print" && rest.size() == 1 && (rest[0] == "--help" || rest[0] == "-h"))
    return Answer{usage() + "\n" + help_text(), {}};
  if (verb == "print") return print(rest);
  if (verb == "collect") return collect(rest);
  ShellHost host;
  if (verb == "help" || verb == "--help" || verb == "-h" || verb.empty()) {
    if (rest.size() == 1 && rest[0] == "--markdown")
      return Answer{fmt::format("{}\n## In the shell\n\n```\n{}```\n\n### collect\n\n```\n{}```\n",
                                help_markdown(), usage(), collect_options_text()),
                    {}};
    if (rest.size() == 1 && rest[0] == "collect") return Answer{collect_help(), {}};
    auto help = execute(host, **find_command("help"), rest);
    if (help && rest.empty()) help->text.insert(0, usage() + "\n");
    return help;
  }
  if (verb == "version" || verb == "--version")
    return execute(host, **find_command("version"), rest);
  for (const Command& command : command_table()) {
    if (command.name != verb) continue;
    if (!is_in_print(command.role)) return execute(host, command, rest);
    return fault("gnomon has no command " + verb,
                 fmt::format("`gnomon print -{} EXPERIMENT`", verb));
  }
  constexpr std::string_view kVerbs[] = {"print", "collect", "help", "version"};
  return fault("gnomon has no command " + verb,
               suggestion(verb, kVerbs, "`gnomon help` lists them all"));
}

}  // namespace

int main(int argc, char** argv) try {
  const auto answer = run({argv + 1, argv + argc});
  if (!answer) {
    fmt::print(stderr, "gnomon: {}\n", sentence(answer.error()));
    return 1;
  }
  for (const std::string& warning : answer->warnings)
    fmt::print(stderr, "gnomon: note: {}\n", one_line(warning));
  const std::string& text = answer->text;
  const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
  if (written && std::fflush(stdout) == 0) return 0;
  fmt::print(stderr, "gnomon: {}\n", sentence(cannot_write().value()));
  return 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "gnomon: %s.\n", error.what());
  return 1;
}
