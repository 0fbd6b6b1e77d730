// The program gnomon: reports outside the debugger.
#include <fmt/format.h>

#include <cstdio>
#include <string>
#include <vector>

#include "commands/command.h"

namespace {

using namespace gnomon;
using namespace gnomon::commands;

class ShellHost : public Host {
 public:
  explicit ShellHost(std::string experiment = {}) : experiment_(std::move(experiment)) {}
  Result<std::string> enable() override { return only_in_lldb(); }
  Result<std::string> disable() override { return only_in_lldb(); }
  Result<std::string> experiment() override {
    if (!experiment_.empty()) return experiment_;
    return fault("no experiment is named", "end the line with one, such as test.1.er");
  }
  Result<std::string> function() override {
    return fault("no function is named", "name one, as `gnomon print -functions` shows it");
  }
  std::size_t usual_limit() const override { return 0; }
  std::string state() override { return ""; }

 private:
  static tl::unexpected<Fault> only_in_lldb() {
    return fault("only a debugger can do that", "in LLDB type `collector enable`");
  }

  std::string experiment_;
};

constexpr const char* kUsage =
    "Usage: gnomon print [--format text|json] [--limit N] -REPORT... EXPERIMENT\n"
    "       gnomon help [COMMAND]\n"
    "       gnomon version\n\n"
    "Example: gnomon print -functions test.1.er\n\n";

Result<const Command*> report_named(const std::string& word) {
  std::vector<std::string_view> names;
  for (const Command& command : command_table())
    if (command.is_report) names.push_back(command.name);
  const std::string name = word.substr(1);
  const Command* command = find_command(name);
  if (command && command->is_report) return command;
  return fault(fmt::format("there is no report -{}", name),
               suggestion(name, names, "`gnomon help` lists them all"));
}

// A report and its own words.
struct Wanted {
  const Command* report;
  std::vector<std::string> words;
};

// The options are every report's.
struct Line {
  std::vector<Wanted> reports;
  std::vector<std::string> options;
  std::string experiment;
};

Result<Line> read_line(const std::vector<std::string>& words) {
  Line line;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    const bool is_last = i + 1 == words.size();
    if (word.size() > 1 && word[0] == '-' && word[1] != '-') {
      auto report = report_named(word);
      if (!report) return tl::unexpected(report.error());
      line.reports.push_back({*report, {}});
    } else if (word.starts_with("--")) {
      line.options.push_back(word);
      if (word.find('=') == std::string::npos && !is_last) line.options.push_back(words[++i]);
    } else if (is_last) {
      line.experiment = word;
    } else if (!line.reports.empty() &&
               line.reports.back().words.size() < line.reports.back().report->arguments) {
      line.reports.back().words.push_back(word);
    } else {
      return fault("nothing is known by the name of " + word,
                   "one experiment ends the line, a report's words follow it");
    }
  }
  return line;
}

Result<std::string> print(const std::vector<std::string>& words) {
  auto line = read_line(words);
  if (!line) return tl::unexpected(line.error());
  if (line->reports.empty()) return fault("no report is named", "for example -functions");
  ShellHost host(line->experiment);
  std::string out;
  for (Wanted& wanted : line->reports) {
    wanted.words.insert(wanted.words.end(), line->options.begin(), line->options.end());
    auto text = execute(host, *wanted.report, wanted.words);
    if (!text) return text;
    out += (out.empty() ? "" : "\n") + *text;
  }
  return out;
}

Result<std::string> run(const std::vector<std::string>& words) {
  const std::string verb = words.empty() ? "" : words.front();
  const std::vector<std::string> rest(words.empty() ? words.end() : words.begin() + 1, words.end());
  if (verb == "print") return print(rest);
  if (verb == "help" || verb == "--help" || verb == "-h" || verb.empty()) {
    ShellHost host;
    auto help = execute(host, *find_command("help"), rest);
    if (!help || !rest.empty()) return help;
    return kUsage + *help;
  }
  ShellHost host;
  if (verb == "version" || verb == "--version")
    return execute(host, *find_command("version"), rest);
  constexpr std::string_view kVerbs[] = {"print", "help", "version"};
  return fault("gnomon has no command " + verb,
               suggestion(verb, kVerbs, "`gnomon help` lists them all"));
}

}  // namespace

int main(int argc, char** argv) {
  const auto text = run({argv + 1, argv + argc});
  if (!text) {
    fmt::print(stderr, "gnomon: {}\n", sentence(text.error()));
    return 1;
  }
  const bool written = std::fwrite(text->data(), 1, text->size(), stdout) == text->size();
  return written && std::fflush(stdout) == 0 ? 0 : 1;
}
