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
  Result<std::string> enable() override { return only_in_lldb(); }
  Result<std::string> disable() override { return only_in_lldb(); }
  Result<std::string> experiment() override {
    return fault("no experiment is named", "end the line with one, such as test.1.er");
  }
  std::string state() override { return ""; }

 private:
  static tl::unexpected<Fault> only_in_lldb() {
    return fault("only a debugger can do that", "in LLDB type `collector enable`");
  }
};

constexpr const char* kUsage =
    "Usage: gnomon print [--format text|json] -REPORT... EXPERIMENT\n"
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

Result<std::string> print(std::vector<std::string> words) {
  std::vector<const Command*> reports;
  std::vector<std::string> rest;
  for (const std::string& word : words) {
    if (word.size() < 2 || word[0] != '-' || word[1] == '-') {
      rest.push_back(word);
      continue;
    }
    auto report = report_named(word);
    if (!report) return tl::unexpected(report.error());
    reports.push_back(*report);
  }
  if (reports.empty()) return fault("no report is named", "for example -functions");
  ShellHost host;
  std::string out;
  for (const Command* report : reports) {
    auto text = execute(host, *report, rest);
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
