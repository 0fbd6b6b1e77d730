// What users type, as numbers and times. Any thread.
#include "commands/host/words.h"

#include <fmt/format.h>

#include <cctype>
#include <charconv>
#include <cmath>

namespace gnomon::commands {
namespace {

struct Unit {
  std::string_view name;
  double nanoseconds;
};
constexpr Unit kUnits[] = {{"ms", 1e6}, {"s", 1e9}, {"m", 60e9}, {"", 1e9}};

}  // namespace

std::optional<std::size_t> whole_number(std::string_view word) {
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (error != std::errc() || end != word.data() + word.size()) return std::nullopt;
  return number;
}

std::optional<std::uint64_t> address_in(std::string_view word) {
  const bool is_hexadecimal = word.starts_with("0x") || word.starts_with("0X");
  if (is_hexadecimal) word.remove_prefix(2);
  std::uint64_t value = 0;
  const auto [end, error] =
      std::from_chars(word.data(), word.data() + word.size(), value, is_hexadecimal ? 16 : 10);
  if (word.empty() || error != std::errc() || end != word.data() + word.size()) return std::nullopt;
  return value;
}

std::optional<std::uint64_t> bytes_in(std::string_view word) {
  constexpr std::size_t kMost = std::size_t{1} << 40;
  unsigned shift = 0;
  if (word.ends_with('k') || word.ends_with('K')) shift = 10;
  if (word.ends_with('m') || word.ends_with('M')) shift = 20;
  if (shift != 0) word.remove_suffix(1);
  const auto number = whole_number(word);
  if (!number || *number > kMost) return std::nullopt;
  return std::uint64_t{*number} << shift;
}

std::optional<std::uint64_t> time_in(std::string_view word) {
  constexpr double kMost = 1e15;  // ns
  double number = 0;
  const auto [end, error] =
      std::from_chars(word.data(), word.data() + word.size(), number, std::chars_format::fixed);
  if (error != std::errc() || word.front() == '-') return std::nullopt;
  const std::string_view unit(end, static_cast<std::size_t>(word.data() + word.size() - end));
  for (const Unit& each : kUnits)
    if (each.name == unit && number * each.nanoseconds <= kMost)
      return static_cast<std::uint64_t>(std::llround(number * each.nanoseconds));
  return std::nullopt;
}

std::vector<std::string_view> blank_separated(std::string_view list) {
  std::vector<std::string_view> words;
  while (!list.empty()) {
    const std::size_t end = std::min(list.find(' '), list.size());
    if (end != 0) words.push_back(list.substr(0, end));
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return words;
}

Result<std::vector<std::string>> split_words(std::string_view line) {
  std::vector<std::string> words;
  bool is_in_word = false;
  char quote = '\0';
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    const bool is_blank = std::isspace(static_cast<unsigned char>(c));
    if (quote == '\0' && is_blank) {
      is_in_word = false;
      continue;
    }
    if (quote == '\0' && !is_in_word && c == '#') break;
    if (!is_in_word) words.emplace_back();
    is_in_word = true;
    if (c == quote)
      quote = '\0';
    else if (quote == '\0' && (c == '"' || c == '\''))
      quote = c;
    else if (quote != '\'' && c == '\\' && i + 1 < line.size() &&
             (quote == '\0' || line[i + 1] == '"' || line[i + 1] == '\\'))
      words.back() += line[++i];
    else
      words.back() += c;
  }
  if (quote != '\0')
    return fault(fmt::format("the line ends within a word in {}", quote), "end the word");
  return words;
}

std::vector<std::string> words_of_operands(std::string_view operands) {
  std::vector<std::string> words;
  std::string word;
  bool is_name = true;  // no letter is a capital
  const auto end_word = [&] {
    if (!word.empty() && is_name) words.push_back(word);
    word.clear();
    is_name = true;
  };
  for (const char c : operands) {
    if (std::isalpha(static_cast<unsigned char>(c))) {
      word += c;
      is_name = is_name && std::islower(static_cast<unsigned char>(c));
    } else {
      end_word();
    }
  }
  end_word();
  return words;
}

}  // namespace gnomon::commands
