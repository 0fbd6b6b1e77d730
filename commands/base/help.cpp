// What the command table says of itself: in the shell, in LLDB, in docs/commands.md. Any thread.
#include "commands/base/help.h"

#include <fmt/format.h>

#include <sstream>

namespace gnomon::commands {
namespace {

constexpr std::size_t kColumns = 80;
constexpr std::string_view kInShellAlone = " In `gnomon print` alone.";
constexpr std::string_view kExperiment =
    "A directory NAME.N.er. Without it: the one being recorded, or the last one of this session.";

std::string future_sentence() {
  std::string names;
  for (const Command& command : command_table())
    if (command.role == Role::future)
      names += fmt::format("{}{}", names.empty() ? "" : ", ", command.name);
  return "Not in this version, and said so: " + names + ".";
}

std::string wrapped_lines(std::string_view paragraphs) {
  std::istringstream lines{std::string(paragraphs)};
  std::string out;
  for (std::string line; std::getline(lines, line);) out += wrapped(line, "", "");
  return out;
}

std::string term_of(const Option& option) {
  return fmt::format("{}{}{}", option.name, option.operand.empty() ? "" : " ", option.operand);
}

std::string_view first_alias(const Command& command) {
  return command.aliases.substr(0, command.aliases.find(' '));
}

// quote: stands around each.
std::string aliases_of(const Command& command, std::string_view quote) {
  std::string list;
  for (const std::string_view alias : blank_separated(command.aliases))
    list += fmt::format("{}{}{}{}", list.empty() ? "" : ", ", quote, alias, quote);
  return list;
}

// use(term, meaning): an option or an operand of the command.
template <typename Use>
void each_term(const Command& command, Use use) {
  for (const Option& option : option_table())
    if (contains(command.options, option.id)) use(term_of(option), option.meaning);
  if (command.role == Role::report) use(std::string("EXPERIMENT"), kExperiment);
}

// Options in brackets; more than three are not named.
std::string option_syntax(const Command& command) {
  std::string all;
  int count = 0;
  for (const Option& option : option_table())
    if (contains(command.options, option.id)) {
      all += fmt::format(" [{}]", term_of(option));
      ++count;
    }
  return count > 3 ? " [OPTION]..." : all;
}

// The names of the options, which stand by themselves further down.
std::string options_markdown(const Command& command) {
  std::string names;
  for (const Option& option : option_table())
    if (contains(command.options, option.id))
      names += fmt::format("{}`{}`", names.empty() ? "" : ", ", option.name);
  return names.empty() ? "" : "\n[Options](#options): " + names + ".\n";
}

}  // namespace

std::string wrapped(std::string_view paragraph, const std::string& lead,
                    const std::string& indent) {
  std::istringstream words{std::string(paragraph)};
  std::string out, line = lead;
  bool is_first = true;
  for (std::string word; words >> word; is_first = false) {
    if (!is_first && line.size() + 1 + word.size() > kColumns) {
      out += line + "\n";
      line = indent;
    } else if (!is_first) {
      line += " ";
    }
    line += word;
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return out + line + "\n";
}

std::string version_text() { return "Gnomon " GNOMON_VERSION "\n"; }

std::string syntax(const Command& command) {
  std::string text = std::string(command.operands) + option_syntax(command);
  if (command.role == Role::report) text += " [EXPERIMENT]";
  return text.starts_with(' ') ? text.substr(1) : text;
}

std::string long_help(const Command& command) {
  std::string text = "\n" + std::string(command.help);
  each_term(command, [&](const std::string& term, std::string_view meaning) {
    text += fmt::format("\n{}: {}\n", term, meaning);
  });
  return text;
}

std::string with_help_of(std::string sentence, std::string_view prefix) {
  constexpr std::string_view kHelp = "`help ";
  for (std::size_t at = 0; (at = sentence.find(kHelp, at)) != std::string::npos; ++at)
    sentence.insert(at + 1, prefix);
  return sentence;
}

std::string help_text() {
  std::string text =
      "Commands (in LLDB `collector NAME`; reports in the shell `gnomon print -NAME`):\n\n";
  for (const Command& command : command_table())
    if (command.role != Role::future)
      text += fmt::format("  {:<16} {:<6} {}{}\n", command.name, first_alias(command),
                          command.summary, is_in_print_alone(command.role) ? kInShellAlone : "");
  return text + "\n" + wrapped(future_sentence(), "", "") +
         "\n`gnomon help NAME`, in LLDB `collector help NAME`, says more.\n";
}

namespace {

std::string help_of(const Command& command) {
  constexpr std::size_t kTerm = 23;
  std::string text = fmt::format("{}\n\n", command.summary);
  text += wrapped(syntax(command), fmt::format("Syntax: {} ", command.name), "        ");
  if (!command.aliases.empty()) text += fmt::format("Also known as {}.\n", aliases_of(command, ""));
  if (!command.help.empty()) text += "\n" + wrapped_lines(command.help);
  bool first = true;
  each_term(command, [&](const std::string& term, std::string_view meaning) {
    text += (first ? "\n" : "") +
            wrapped(meaning, fmt::format("  {:<{}} ", term, kTerm), std::string(kTerm + 3, ' '));
    first = false;
  });
  return text;
}

}  // namespace

std::string help_text(std::string_view name) {
  std::string text;
  for (const Command& command : command_table())
    if (command.name == name) text += (text.empty() ? "" : "\n") + help_of(command);
  return text;
}

std::string help_markdown() {
  std::string text =
      "# Commands\n\nIn LLDB each is `collector NAME`; in the shell reports, and what they "
      "show, are `gnomon print -NAME`. This page is what `gnomon help\n--markdown` prints.\n";
  for (const Command& command : command_table()) {
    if (command.role == Role::future) continue;
    text += fmt::format("\n## {}\n\n{}{}\n\n```\n{} {}", command.name, command.summary,
                        is_in_print_alone(command.role) ? kInShellAlone : "", command.name,
                        syntax(command));
    text.erase(text.find_last_not_of(' ') + 1);
    text += "\n```\n";
    if (!command.help.empty())
      text += fmt::format("\n{}{}", command.help, command.help.ends_with('\n') ? "" : "\n");
    if (!command.aliases.empty())
      text += fmt::format("\nAlso known as {}.\n", aliases_of(command, "`"));
    text += options_markdown(command);
  }
  text += "\n## Options\n\n";
  for (const Option& option : option_table())
    text += fmt::format("- `{}`: {}\n", term_of(option), option.meaning);
  text += fmt::format("- `EXPERIMENT`: {}\n", kExperiment);
  return text + "\n" + future_sentence() + "\n";
}

}  // namespace gnomon::commands
