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

#include "commands/base/help.h"
#include "commands/collect/blocked_process.h"
#include "commands/collect/collect.h"
#include "commands/print/print.h"
#include "commands/print/shell_host.h"
#include "reader/base/one_line.h"

namespace {

using namespace gnomon;
using namespace gnomon::commands;

std::string usage() {
  std::istringstream forms("gnomon print [OPTION]... [-COMMAND]... [EXPERIMENT]...\n" +
                           collect_syntax() +
                           "gnomon export --to FORMAT [-o FILE] [METRIC] EXPERIMENT\ngnomon "
                           "blocked -P PID\ngnomon help "
                           "[COMMAND]\ngnomon version\n");
  std::string text;
  for (std::string form; std::getline(forms, form);)
    text += (text.empty() ? "Usage: " : "       ") + form + "\n";
  return text +
         "\ncollect records a program from its beginning, or a process that runs, without a "
         "debugger.\n"
         "`gnomon collect` lists its options. print shows what was recorded: by the reports that\n"
         "are named, by the commands of a file (-script FILE), or, without any, by those that you\n"
         "type; `gnomon help print` says more.\n\n"
         "Example: gnomon collect -o try.er ./program\n"
         "         gnomon print -functions try.er\n";
}

// `gnomon export` is `gnomon print -export`, where -o is short for --output.
std::vector<std::string> export_words(const std::vector<std::string>& rest) {
  std::vector<std::string> words{"-export"};
  for (const std::string& word : rest) words.push_back(word == "-o" ? "--output" : word);
  return words;
}

bool is_help(const std::vector<std::string>& words) {
  return words.size() == 1 && (words[0] == "--help" || words[0] == "-h");
}

// A command of `gnomon print` that stands where a verb should.
Fault no_verb(const std::string& verb) {
  const std::string example = verb == "compare" ? "-compare on -functions FIRST.er SECOND.er"
                                                : fmt::format("-{} EXPERIMENT", verb);
  return Fault{"gnomon has no command " + verb,
               fmt::format("type `gnomon print {}`; `help {}` says more", example, verb)};
}

Result<Answer> run(const std::vector<std::string>& words) {
  const std::string verb = words.empty() ? "" : words.front();
  const std::vector<std::string> rest(words.empty() ? words.end() : words.begin() + 1, words.end());
  if (verb == "print" && is_help(rest)) return Answer{print_help() + "\n" + help_text(), {}};
  if (is_help(rest) && verb != "collect")
    if (std::string text = help_text(verb); !text.empty()) return Answer{text, {}};
  if (verb == "print") return print(rest);
  if (verb == "export") return print(export_words(rest));
  if (verb == "collect") return collect(rest);
  if (verb == "blocked") return blocked_process(rest);
  ShellHost host;
  if (verb == "help" || verb == "--help" || verb == "-h" || verb.empty()) {
    if (rest.size() == 1 && rest[0] == "--markdown")
      return Answer{fmt::format("{}\n## In the shell\n\n```\n{}```\n\n### "
                                "print\n\n```\n{}```\n\n### collect\n\n```\n{}```\n",
                                help_markdown(), usage(), print_help(), collect_options_text()),
                    {}};
    if (rest.size() == 1 && rest[0] == "collect") return Answer{collect_help(), {}};
    if (rest.size() == 1 && rest[0] == "print") return Answer{print_help(), {}};
    auto help = execute(host, **find_command("help"), rest);
    if (help && rest.empty()) help->text.insert(0, usage() + "\n");
    return help;
  }
  if (verb == "version" || verb == "--version")
    return execute(host, **find_command("version"), rest);
  for (const Command& command : command_table()) {
    if (command.name != verb) continue;
    if (!is_in_print(command.role)) return execute(host, command, rest);
    return tl::unexpected(no_verb(verb));
  }
  constexpr std::string_view kVerbs[] = {"print",   "export", "collect",
                                         "blocked", "help",   "version"};
  return fault("gnomon has no command " + verb,
               suggestion(verb, kVerbs, "`gnomon help` lists them all"));
}

}  // namespace

int main(int argc, char** argv) try {
  const auto answer = run({argv + 1, argv + argc});
  if (!answer) {
    fmt::print(stderr, "gnomon: {}\n", with_help_of(sentence(answer.error()), "gnomon "));
    return 1;
  }
  for (const std::string& warning : answer->warnings)
    fmt::print(stderr, "gnomon: note: {}\n", one_line(warning));
  const std::string& text = answer->text;
  const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
  if (written && std::fflush(stdout) == 0) return 0;
  fmt::print(stderr, "gnomon: cannot write: {}.\n", std::strerror(errno));
  return 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "gnomon: %s.\n", error.what());
  return 1;
}
