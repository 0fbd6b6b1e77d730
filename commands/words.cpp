// What users type, as numbers and times. Any thread.
#include "commands/words.h"

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

}  // namespace gnomon::commands
