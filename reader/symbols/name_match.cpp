// Whether what a user typed means a function. Any thread.
#include "reader/symbols/name_match.h"

#include <algorithm>

namespace gnomon::reader {
namespace {

// Without the bracketed part that ends at the last character; all of it where there is none.
std::string_view without_brackets(std::string_view name, char open, char close) {
  if (!name.ends_with(close)) return name;
  int depth = 0;
  for (std::size_t i = name.size(); i-- > 0;) {
    depth += name[i] == close ? 1 : name[i] == open ? -1 : 0;
    if (depth == 0) return i == 0 ? name : name.substr(0, i);
  }
  return name;
}

std::string_view without_parameters(std::string_view name) {
  // "(x.so)", which tells functions of one name apart, has a blank before it.
  if (const auto object = name.rfind(" ("); object != std::string_view::npos && name.ends_with(')'))
    name = name.substr(0, object);
  for (const std::string_view end : {" const", " volatile", " &", " &&"})
    if (name.ends_with(end)) name.remove_suffix(end.size());
  return without_brackets(name, '(', ')');
}

bool ends_at_component(std::string_view name, std::string_view word) {
  if (!name.ends_with(word)) return false;
  const std::string_view before = name.substr(0, name.size() - word.size());
  return before.empty() || before.ends_with("::") || before.ends_with(' ');
}

}  // namespace

bool names_function(std::string_view word, std::string_view display_name) {
  if (word.empty()) return false;
  const std::string_view bare = without_parameters(display_name);
  return ends_at_component(display_name, word) || ends_at_component(bare, word) ||
         ends_at_component(without_brackets(bare, '<', '>'), word);
}

}  // namespace gnomon::reader
