// Whether what a user typed means a function. Any thread.
#include "reader/symbols/name_match.h"

#include <algorithm>
#include <cctype>

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

// "(x.so)", which tells functions of one name apart, has a blank before it.
std::string_view without_object(std::string_view name) {
  const auto object = name.rfind(" (");
  return object != std::string_view::npos && name.ends_with(')') ? name.substr(0, object) : name;
}

// What a compiler has made of one function bears its name and more: "f(int) [clone .isra.0]", and
// in C and Fortran "f.part.0", "step.0", "step.0._omp_fn.0".
std::string_view without_clone(std::string_view name) {
  if (const auto clone = name.find(" [clone ."); clone != std::string_view::npos)
    return name.substr(0, clone);
  const auto word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
  const auto end = std::find_if_not(name.begin(), name.end(), word);
  const bool plain =
      std::all_of(end, name.end(), [&](char c) { return c == '.' || c == '$' || word(c); });
  return plain && end != name.begin() && *end == '.'
             ? name.substr(0, static_cast<std::size_t>(end - name.begin()))
             : name;
}

std::string_view without_parameters(std::string_view name) {
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
  const std::string_view whole = without_object(display_name), stem = without_clone(whole);
  const std::string_view bare = without_parameters(stem);
  return ends_at_component(display_name, word) || ends_at_component(whole, word) ||
         ends_at_component(stem, word) || ends_at_component(bare, word) ||
         ends_at_component(without_brackets(bare, '<', '>'), word);
}

}  // namespace gnomon::reader
