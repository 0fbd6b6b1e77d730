// Finding, parsing and explaining commands. Any thread.
#include "commands/command.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
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

constexpr std::array<std::string_view, 2> kFormats{"text", "json"};

Result<void> set_format(std::string_view word, Invocation& call) {
  const auto at = std::find(kFormats.begin(), kFormats.end(), word);
  if (at == kFormats.end())
    return fault(fmt::format("there is no format {}", word),
                 suggestion(word, kFormats, "text and json are known"));
  call.format = static_cast<Format>(at - kFormats.begin());
  return {};
}

Result<void> set_limit(std::string_view word, Invocation& call) {
  call.limit = whole_number(word);
  if (call.limit) return {};
  return fault(fmt::format("{} is not a number of rows", word), "0 shows all of them");
}

// The options of every report.
struct Option {
  std::string_view name, needs;
  Result<void> (*set)(std::string_view word, Invocation& call);
};
constexpr std::array kOptions{
    Option{"--format", "a word; text and json are known", set_format},
    Option{"--limit", "a number of rows; 0 shows all of them", set_limit},
};

Result<const Option*> option_named(const Command& command, std::string_view name) {
  std::vector<std::string_view> names;
  for (const Option& option : kOptions) {
    if (command.is_report && option.name == name) return &option;
    names.push_back(option.name);
  }
  return fault(fmt::format("{} has no option {}", command.name, name),
               command.is_report ? suggestion(name, names, "--format and --limit are known")
                                 : "give it without options");
}

// A command that takes arguments tells the experiment by its ending.
Result<void> find_experiment_word(const Command& command, Invocation& call) {
  auto& words = call.arguments;
  if (!command.is_report || words.empty()) return {};
  const std::string& last = words.back();
  if (words.size() > command.arguments || last.ends_with(".er") || last.ends_with(".er/")) {
    call.experiment = last;
    words.pop_back();
  }
  if (words.size() <= command.arguments) return {};
  if (command.arguments == 0)
    return fault(fmt::format("one experiment at a time, not {}", words.size() + 1),
                 "name one directory");
  return fault(fmt::format("{} takes {} words and an experiment, not {}", command.name,
                           command.arguments, words.size() + 1),
               fmt::format("its syntax is {}", command.syntax));
}

}  // namespace

const Command* find_command(std::string_view name) {
  for (const Command& command : command_table())
    if (command.name == name) return &command;
  return nullptr;
}

std::optional<std::size_t> whole_number(std::string_view word) {
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (error != std::errc() || end != word.data() + word.size()) return std::nullopt;
  return number;
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
    const auto option = option_named(command, word.substr(0, equals));
    if (!option) return tl::unexpected(option.error());
    if (equals == std::string::npos && i + 1 == words.size())
      return fault(fmt::format("{} needs {}", (*option)->name, (*option)->needs));
    auto set =
        (*option)->set(equals == std::string::npos ? words[++i] : word.substr(equals + 1), call);
    if (!set) return tl::unexpected(set.error());
  }
  if (auto found = find_experiment_word(command, call); !found)
    return tl::unexpected(found.error());
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
    text += fmt::format("  {:<15}  {}\n", command.name, command.summary);
  return text + "\n`help NAME` says more.\n";
}

std::string help_text(const Command& command) {
  std::string text = fmt::format("{}\n\nSyntax: {}{}{}\n", command.summary, command.name,
                                 command.syntax.empty() ? "" : " ", command.syntax);
  if (!command.help.empty()) text += fmt::format("\n{}", command.help);
  return text;
}

}  // namespace gnomon::commands
