// What can follow on a line of commands. LLDB's command thread, or the program's only one.
#include "commands/base/complete.h"

#include <algorithm>
#include <filesystem>
#include <set>

#include "commands/base/command.h"
#include "reader/symbols/name_match.h"

namespace gnomon::commands {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMost = 200;

std::vector<std::string> command_names(bool for_print) {
  std::vector<std::string> names;
  for (const Command& command : command_table())
    if (for_print ? is_in_print(command.role) : !is_in_print_alone(command.role))
      names.emplace_back(command.name);
  return names;
}

std::vector<std::string> option_names(const Command& command) {
  std::vector<std::string> names;
  for (const Option& option : option_table())
    if (contains(command.options, option.id)) names.emplace_back(option.name);
  return names;
}

// The experiments in the directory that the word names so far, with that directory in front.
std::vector<std::string> experiments(const std::string& word) {
  const auto slash = word.rfind('/');
  const std::string above = slash == std::string::npos ? "" : word.substr(0, slash + 1);
  std::vector<std::string> found;
  std::error_code failed;
  for (fs::directory_iterator at(above.empty() ? "." : above, failed), end; !failed && at != end;
       at.increment(failed)) {
    const std::string name = at->path().filename().string();
    if (name.ends_with(".er") && at->is_directory(failed)) found.push_back(above + name);
  }
  return found;
}

// By their names without parameters. Only of what is open: completion reads no experiment.
std::vector<std::string> functions(Host& host) {
  std::vector<std::string> found;
  for (const std::string& name : host.function_names())
    found.emplace_back(reader::plain_name(name));
  return found;
}

std::vector<std::string> possible(Host& host, const Command& command, const std::string& word) {
  if (word.starts_with('-')) return option_names(command);
  std::vector<std::string> all = words_of_operands(command.operands);
  if (command.operands.find("FUNCTION") != std::string_view::npos ||
      command.operands.find("NAME") != std::string_view::npos)
    for (std::string& each : functions(host)) all.push_back(std::move(each));
  if (command.role == Role::report)
    for (std::string& each : experiments(word)) all.push_back(std::move(each));
  if (command.name == "help")
    for (std::string& each : command_names(false)) all.push_back(std::move(each));
  return all;
}

std::string common_beginning(const std::vector<std::string>& words) {
  std::string common = words.empty() ? "" : words.front();
  for (const std::string& word : words) {
    const auto differs = std::mismatch(common.begin(), common.end(), word.begin(), word.end());
    common.erase(differs.first, common.end());
  }
  return common;
}

}  // namespace

Completion completion_of(Host& host, std::string_view line, bool for_print) {
  const auto blank = line.find_last_of(" \t");
  const std::string word(blank == std::string_view::npos ? line : line.substr(blank + 1));
  const auto words = split_words(line.substr(0, line.size() - word.size()));
  std::vector<std::string> all;
  if (!words) return {};
  if (words->empty()) {
    all = command_names(for_print);
  } else if (const auto command = find_command(words->front(), for_print)) {
    all = possible(host, **command, word);
  }
  std::set<std::string> fitting;
  for (std::string& each : all)
    if (each.starts_with(word) && fitting.size() < kMost) fitting.insert(std::move(each));
  Completion found;
  found.candidates.assign(fitting.begin(), fitting.end());
  if (found.candidates.empty()) return found;
  found.insert = common_beginning(found.candidates).substr(word.size());
  if (found.candidates.size() == 1) found.insert += ' ';
  return found;
}

}  // namespace gnomon::commands
