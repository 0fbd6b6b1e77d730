// The options of reports. Any thread.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "commands/command.h"

namespace gnomon::commands {
namespace {

constexpr std::array<std::string_view, 3> kFormats{"text", "json", "csv"};

Result<void> set_format(std::string_view word, Invocation& call) {
  const auto at = std::find(kFormats.begin(), kFormats.end(), word);
  if (at == kFormats.end())
    return fault(fmt::format("there is no format {}", word),
                 suggestion(word, kFormats, "text, json and csv are known"));
  call.format = static_cast<Format>(at - kFormats.begin());
  return {};
}

Result<void> set_limit(std::string_view word, Invocation& call) {
  call.limit = whole_number(word);
  if (call.limit) return {};
  return fault(fmt::format("{} is not a number of rows", word), "0 shows all of them");
}

Result<void> set_width(std::string_view word, Invocation& call) {
  call.width = whole_number(word);
  if (call.width) return {};
  return fault(fmt::format("{} is not a number of columns", word), "0 leaves names whole");
}

Result<void> set_metrics(std::string_view word, Invocation& call) {
  auto list = reader::parse_metrics(word);
  if (!list) return tl::unexpected(list.error());
  call.metrics = std::move(*list);
  return {};
}

Result<void> set_sort(std::string_view word, Invocation& call) {
  auto sort = reader::parse_sort(word);
  if (!sort) return tl::unexpected(sort.error());
  call.sort = std::move(*sort);
  return {};
}

constexpr std::array kOptions{
    Option{OptionId::format, "--format", "text|json|csv",
           "text is the default. json contains notes and rows; csv contains rows, and the notes "
           "are printed as warnings. Both give times in seconds.",
           "a word; text, json and csv are known", set_format},
    Option{OptionId::limit, "--limit", "N",
           "At most N rows, or functions where each has several; 0 shows all. The default is 40 in "
           "LLDB and unlimited in the shell.",
           "a number of rows; 0 shows all of them", set_limit},
    Option{OptionId::width, "--width", "N",
           "Shorten names in text to lines of N columns; 0 leaves them whole. The default is the "
           "width of the terminal, if there is one.",
           "a number of columns; 0 leaves names whole", set_width},
    Option{OptionId::metrics, "--metrics", "LIST",
           "The columns of this report, written as for the command `metrics`.",
           "a list such as e.%totalcpu:i.totalcpu", set_metrics},
    Option{OptionId::sort, "--sort", "METRIC",
           "The order of this report, written as for the command `sort`.",
           "a metric such as i.totalcpu", set_sort},
};

}  // namespace

std::span<const Option> option_table() { return kOptions; }

std::optional<std::size_t> whole_number(std::string_view word) {
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (error != std::errc() || end != word.data() + word.size()) return std::nullopt;
  return number;
}

}  // namespace gnomon::commands
