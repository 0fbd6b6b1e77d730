// Finding, parsing and explaining commands. Any thread.
#include "commands/command.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>

namespace gnomon::commands {
namespace {

// Number of letters to add, drop, replace or swap with their neighbour.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before, row(b.size() + 1), next(b.size() + 1);
  std::iota(row.begin(), row.end(), 0u);
  for (std::size_t i = 1; i <= a.size(); ++i) {
    next[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      next[j] = std::min({row[j] + 1, next[j - 1] + 1, row[j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        next[j] = std::min(next[j], before[j - 2] + 1);
    }
    before = row;
    row = next;
  }
  return row[b.size()];
}

constexpr std::array<std::string_view, 1> kOptions{"--format"};

Result<Format> format_of(std::string_view word) {
  constexpr std::array<std::string_view, 2> kFormats{"text", "json"};
  if (word == kFormats[0]) return Format::text;
  if (word == kFormats[1]) return Format::json;
  return fault(fmt::format("there is no format {}", word),
               suggestion(word, kFormats, "text and json are known"));
}

}  // namespace

const Command* find_command(std::string_view name) {
  for (const Command& command : command_table())
    if (command.name == name) return &command;
  return nullptr;
}

std::string suggestion(std::string_view word, std::span<const std::string_view> known,
                       std::string_view otherwise) {
  const auto nearest = std::min_element(known.begin(), known.end(), [&](auto a, auto b) {
    return distance(word, a) < distance(word, b);
  });
  if (nearest != known.end() &&
      distance(word, *nearest) <= std::max<std::size_t>(1, word.size() / 3))
    return fmt::format("did you mean {}?", *nearest);
  return std::string(otherwise);
}

Result<Invocation> parse(const Command& command, std::span<const std::string> words) {
  Invocation call;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (word.size() < 2 || word[0] != '-') {
      call.arguments.push_back(word);
      continue;
    }
    const auto equals = word.find('=');
    const std::string name = word.substr(0, equals);
    if (name != "--format" || !command.is_report)
      return fault(fmt::format("{} has no option {}", command.name, name),
                   command.is_report ? suggestion(name, kOptions, "--format is known")
                                     : "give it without options");
    if (equals == std::string::npos && i + 1 == words.size())
      return fault("--format needs a word", "text and json are known");
    auto format = format_of(equals == std::string::npos ? words[++i] : word.substr(equals + 1));
    if (!format) return tl::unexpected(format.error());
    call.format = *format;
  }
  return call;
}

Result<std::string> execute(Host& host, const Command& command,
                            std::span<const std::string> words) {
  auto call = parse(command, words);
  if (!call) return tl::unexpected(call.error());
  return command.run(host, *call);
}

std::string help_text() {
  std::string text =
      "Commands (in LLDB `collector NAME`, from the shell `gnomon print -NAME`):\n\n";
  for (const Command& command : command_table())
    text += fmt::format("  {:<10} {}\n", command.name, command.summary);
  return text + "\n`help NAME` says more.\n";
}

std::string help_text(const Command& command) {
  std::string text = fmt::format("{}\n\nSyntax: {}{}{}\n", command.summary, command.name,
                                 command.syntax.empty() ? "" : " ", command.syntax);
  if (!command.help.empty()) text += fmt::format("\n{}", command.help);
  return text;
}

}  // namespace gnomon::commands
