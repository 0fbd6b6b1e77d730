// Counter definitions as users write them. Any process: plain text.
#include "libcollector/counters/definition.h"

#include <algorithm>
#include <charconv>
#include <limits>

namespace gnomon::counters {
namespace {

std::vector<std::string> split(const std::string& text, char at) {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (c == at)
      parts.emplace_back();
    else
      parts.back() += c;
  }
  return parts;
}

bool is_interval(const std::string& word) { return word.empty() || interval_of(word, 1000) != 0; }

Refusal read_name(std::string word, Definition& definition) {
  if (word.starts_with('+')) {
    definition.wants_address = true;
    word.erase(0, 1);
  }
  if (const std::size_t slash = word.find('/'); slash != std::string::npos)
    return {std::string(word).append(" names a register, which the kernel chooses"),
            std::string("write ").append(word.substr(0, slash))};
  const std::vector<std::string> parts = split(word, '~');
  definition.name = parts.front();
  if (definition.name.empty()) return {"a counter has no name", "`list` shows those that count"};
  if (definition.name.find_first_of("|; \t\n\"'") != std::string::npos)
    return {definition.name + " is not the name of a counter", "`list` shows those that count"};
  for (std::size_t i = 1; i < parts.size(); ++i) {
    const std::size_t equals = parts[i].find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == parts[i].size())
      return {std::string("~").append(parts[i]).append(" is not an attribute"),
              "~ATTRIBUTE=VALUE is, such as ~system=0"};
    definition.attributes.emplace_back(parts[i].substr(0, equals), parts[i].substr(equals + 1));
  }
  return {};
}

}  // namespace

std::uint64_t interval_of(std::string_view word, std::uint64_t usual) {
  if (word.empty() || word == "on") return usual;
  if (word == "hi" || word == "high" || word == "h") return std::max<std::uint64_t>(usual / 10, 1);
  if (word == "lo" || word == "low") return usual * 10;
  const bool is_hexadecimal = word.starts_with("0x") || word.starts_with("0X");
  if (is_hexadecimal) word.remove_prefix(2);
  std::uint64_t value = 0;
  const char* const end = word.data() + word.size();
  const auto [at, error] = std::from_chars(word.data(), end, value, is_hexadecimal ? 16 : 10);
  const bool is_number = error == std::errc() && at == end;
  // The kernel takes half of the range (perf_event_open(2), sample_period).
  return is_number && value <= std::numeric_limits<std::int64_t>::max() ? value : 0;
}

Refusal parse(const std::vector<std::string>& words, std::vector<Definition>& found) {
  bool may_have_interval = false;
  for (const std::string& word : words)
    for (const std::string& part : split(word, ',')) {
      if (is_interval(part)) {
        if (!may_have_interval && part.empty()) continue;
        if (!may_have_interval)
          return {part + " is an interval without a counter", "write NAME,INTERVAL"};
        found.back().interval = part;
        may_have_interval = false;
        continue;
      }
      if (part == "0") return {"0 is no interval", "on, hi, lo and a number of counts are"};
      Definition& definition = found.emplace_back();
      if (Refusal refusal = read_name(part, definition); !refusal.what.empty()) return refusal;
      may_have_interval = true;
    }
  if (found.empty()) return {"no counter is named", "`list` shows those that count"};
  for (std::size_t i = 0; i < found.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (found[i].name == found[j].name) return {found[i].name + " is named twice", "omit one"};
  return {};
}

}  // namespace gnomon::counters
