// Names that fit a line. Any thread.
#include "reader/table/shorten.h"

#include <algorithm>
#include <string_view>
#include <vector>

namespace gnomon::reader {
namespace {

constexpr std::string_view kGap = "...";

bool is_continuation(char c) { return (c & 0xc0) == 0x80; }  // of a UTF-8 sequence

std::string first_of(const std::string& utf8, std::size_t width) {
  std::size_t at = 0;
  for (; at < utf8.size(); ++at)
    if (!is_continuation(utf8[at]) && width-- == 0) break;
  return utf8.substr(0, at);
}

std::string last_of(const std::string& utf8, std::size_t width) {
  std::size_t at = utf8.size();
  while (at > 0 && width > 0)
    if (!is_continuation(utf8[--at])) --width;
  return utf8.substr(at);
}

// Length of a name such as operator<< or operator(), whose brackets enclose nothing; 0: none here.
std::size_t operator_at(std::string_view name, std::size_t at) {
  constexpr std::string_view kWord = "operator";
  constexpr std::string_view kSigns[] = {"<<=", ">>=", "<=>", "->*", "<<", ">>",
                                         "<=",  ">=",  "->",  "()",  "<",  ">"};
  if (name.compare(at, kWord.size(), kWord) != 0) return 0;
  for (const std::string_view sign : kSigns)
    if (name.compare(at + kWord.size(), sign.size(), sign) == 0) return kWord.size() + sign.size();
  return 0;
}

// What outermost pairs of these brackets enclose becomes a gap. As it was where they do not pair.
std::string without_insides(const std::string& name, char open, char close) {
  std::string out;
  std::size_t depth = 0;
  for (std::size_t at = 0; at < name.size(); ++at) {
    if (const std::size_t length = operator_at(name, at)) {
      if (depth == 0) out += name.substr(at, length);
      at += length - 1;
      continue;
    }
    const bool is_arrow = close == '>' && name[at] == '>' && at > 0 && name[at - 1] == '-';
    if (name[at] == close && !is_arrow) {
      if (depth == 0) return name;
      if (--depth == 0) out += kGap;
    }
    if (depth == 0) out += name[at];
    if (name[at] == open) ++depth;
  }
  return depth == 0 ? out : name;
}

// Where the parameters of a function begin; the length of a name without any.
std::size_t parameters_at(const std::string& name) {
  for (std::size_t at = name.size(); (at = name.rfind('(', at)) != std::string::npos && at > 0;
       --at)
    if (name[at - 1] != ':' && name[at - 1] != ' ') return at;
  return name.size();
}

// Beginnings of the parts of a name: its return type, its scopes, and its last name.
std::vector<std::size_t> parts_of(const std::string& name) {
  std::vector<std::size_t> parts{0};
  const std::size_t end = parameters_at(name);
  int depth = 0;
  for (std::size_t at = 0; at + 1 < end; ++at) {
    if (const std::size_t length = operator_at(name, at)) {
      at += length - 1;
      continue;
    }
    const char c = name[at];
    depth += (c == '(' || c == '<' || c == '[' || c == '{') -
             (c == ')' || c == '>' || c == ']' || c == '}');
    const bool is_scope = c == ':' && at > 0 && name[at - 1] == ':';
    if (depth == 0 && (is_scope || c == ' ')) parts.push_back(at + 1);
  }
  return parts;
}

std::string without_middle(const std::string& name, std::size_t width) {
  const std::size_t kept = width - std::min(width, kGap.size());
  return first_of(name, kept - kept / 2) + std::string(kGap) + last_of(name, kept / 2);
}

}  // namespace

std::size_t width_of(const std::string& utf8) {
  return utf8.size() -
         static_cast<std::size_t>(std::count_if(utf8.begin(), utf8.end(), is_continuation));
}

std::string shortened(const std::string& name, std::size_t width) {
  std::string shorter = name;
  for (const auto& [open, close] : {std::pair('(', ')'), std::pair('<', '>')})
    if (width_of(shorter) > width) {
      const std::string fewer = without_insides(shorter, open, close);
      if (width_of(fewer) < width_of(shorter)) shorter = fewer;
    }
  if (width_of(shorter) <= width) return shorter;
  if (shorter.find("::") == std::string::npos) return without_middle(shorter, width);
  const std::vector<std::size_t> parts = parts_of(shorter);
  for (const std::size_t part : parts)
    if (std::string inner = std::string(kGap) + shorter.substr(part); width_of(inner) <= width)
      return inner;
  return without_middle(shorter.substr(parts.back()), width);
}

}  // namespace gnomon::reader
