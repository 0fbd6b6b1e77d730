// Finding and parsing commands. Any thread.
#include "commands/base/command.h"

#include <fmt/format.h>

#include <algorithm>
#include <new>
#include <numeric>

#include "commands/base/known_counters.h"

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

// last: "and" or "or".
std::string list_of(std::span<const std::string_view> words, std::string_view last) {
  std::string list;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i != 0) list += i + 1 == words.size() ? fmt::format(" {} ", last) : ", ";
    list += words[i];
  }
  return list;
}

Result<const Option*> option_named(const Command& command, std::string_view name) {
  std::vector<std::string_view> names;
  for (const Option& option : option_table()) {
    if (!contains(command.options, option.id)) continue;
    if (option.name == name) return &option;
    names.push_back(option.name);
  }
  return fault(fmt::format("{} has no option {}", command.name, name),
               names.empty() ? "omit the option"
                             : suggestion(name, names, list_of(names, "and") + " are known"));
}

// words: the option as it stands on the line.
Result<void> set_option(const Option& option, std::span<const std::string> words,
                        Invocation& call) {
  std::vector<std::string> values(words.begin() + 1, words.end());
  if (const auto equals = words.front().find('='); equals != std::string::npos)
    values.insert(values.begin(), words.front().substr(equals + 1));
  if (values.size() < option.takes(values.empty() ? "" : values.front()))
    return fault(fmt::format("{} needs {}", option.name, option.needs));
  return option.set(values, call);
}

// A command that takes arguments tells the experiment by its ending.
Result<void> find_experiment_word(const Command& command, Invocation& call) {
  auto& words = call.arguments;
  const bool is_report = command.role == Role::report;
  if (is_report && !words.empty()) {
    auto first = words.end();
    while (first != words.begin() && is_experiment_name(*(first - 1))) --first;
    if (first == words.end() && words.size() > command.arguments) --first;
    call.experiments.assign(first, words.end());
    words.erase(first, words.end());
  }
  if (words.size() <= command.arguments) return {};
  if (!is_report && command.arguments == 0)
    return fault(fmt::format("{} takes no arguments (got {})", command.name, words.front()),
                 "omit it");
  if (is_report && command.arguments == 0)
    return fault(fmt::format("{} is no experiment", words.front()), "name directories NAME.N.er");
  return fault(fmt::format("{} takes {} word{}{}, not {}", command.name, command.arguments,
                           command.arguments == 1 ? "" : "s", is_report ? " and an experiment" : "",
                           words.size() + call.experiments.size()),
               fmt::format("`help {}` shows its syntax", command.name));
}

}  // namespace

bool is_experiment_name(std::string_view word) {
  return word.ends_with(".er") || word.ends_with(".er/") || word.ends_with(".erg");
}

bool is_called(const Command& command, std::string_view name) {
  if (name.empty()) return false;
  const auto aliases = blank_separated(command.aliases);
  return command.name == name || std::find(aliases.begin(), aliases.end(), name) != aliases.end();
}

Result<const Command*> find_command(std::string_view name, bool for_print) {
  std::vector<const Command*> begun;
  std::vector<std::string_view> names, begun_names;
  for (const Command& command : command_table()) {
    if (for_print ? !is_in_print(command.role) : is_in_print_alone(command.role)) continue;
    if (is_called(command, name)) return &command;
    const bool is_again = !begun.empty() && begun.back()->name == command.name;
    if (!name.empty() && command.name.starts_with(name) && !is_again) {
      begun.push_back(&command);
      begun_names.push_back(command.name);
    }
    names.push_back(command.name);
    for (const std::string_view alias : blank_separated(command.aliases)) names.push_back(alias);
  }
  if (begun.size() == 1) return begun.front();
  const char* dash = for_print ? "command -" : "command ";
  if (begun.size() > 1)
    return fault(fmt::format("{}{} could be {}", dash, name, list_of(begun_names, "or")),
                 "add a letter");
  return fault(fmt::format("there is no {}{}", dash, name),
               suggestion(name, names,
                          for_print ? "`gnomon help` lists them all" : "`help` lists them all"));
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
  constexpr std::string_view kOfShells[] = {"|", ">", ">>"};
  Invocation call;
  // `printmode |` takes such a character.
  for (const std::string& word : words)
    if (command.arguments != kAnyNumber && command.role != Role::print_view &&
        std::find(std::begin(kOfShells), std::end(kOfShells), word) != std::end(kOfShells))
      return fault(fmt::format("{} cannot write elsewhere (got {})", command.name, word),
                   "`gnomon print` in the shell can; --limit N shows the first rows");
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    // `sort -e.totalcpu` reverses the order.
    const bool is_sign = command.role == Role::view && !word.starts_with("--");
    if (word.size() < 2 || word[0] != '-' || is_sign) {
      call.arguments.push_back(word);
      continue;
    }
    const auto option = option_named(command, word.substr(0, word.find('=')));
    if (!option) return tl::unexpected(option.error());
    const std::size_t length = length_of(**option, words.subspan(i));
    if (auto set = set_option(**option, words.subspan(i, length), call); !set)
      return tl::unexpected(set.error());
    i += length - 1;
  }
  if (auto found = find_experiment_word(command, call); !found)
    return tl::unexpected(found.error());
  return call;
}

Result<Answer> execute(Host& host, const Command& command, std::span<const std::string> words) {
  if (command.role == Role::future) return command.run(host, {});
  const bool names_metrics = command.role == Role::view ||
                             contains(command.options, OptionId::metrics) ||
                             command.name == "export";
  if (names_metrics && !words.empty()) know_counters(host, words);
  auto call = parse(command, words);
  if (!call) return tl::unexpected(call.error());
  // Of the standard library: memory is all that can be wanting.
  try {
    return command.run(host, *call);
  } catch (const std::bad_alloc&) {
    return fault("there is not enough memory for " + std::string(command.name),
                 "--limit N makes a report smaller");
  }
}

}  // namespace gnomon::commands
