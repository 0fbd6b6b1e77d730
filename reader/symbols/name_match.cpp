// Whether what a user typed means a function. Any thread.
#include "reader/symbols/name_match.h"

#include <algorithm>
#include <array>
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

// Users may leave any such end away: gfortran's "step.0" is a procedure within another.
std::string_view loose_stem(std::string_view name) {
  name = without_clone(name);
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

std::string_view without_clone(std::string_view name) {
  constexpr std::array<std::string_view, 11> kMade{"constprop", "isra",    "part",      "cold",
                                                   "lto_priv",  "_omp_fn", "llvm",      "clone",
                                                   "actor",     "destroy", "localalias"};
  if (const auto clone = name.find(" [clone ."); clone != std::string_view::npos)
    return name.substr(0, clone);
  for (auto dot = name.find('.', 1); dot != std::string_view::npos; dot = name.find('.', dot + 1)) {
    const std::string_view rest = name.substr(dot + 1), word = rest.substr(0, rest.find('.'));
    const bool is_number = std::all_of(rest.begin(), rest.end(), [](char c) {
      return c == '.' || std::isdigit(static_cast<unsigned char>(c));
    });
    if (!is_number && std::find(kMade.begin(), kMade.end(), word) != kMade.end())
      return name.substr(0, dot);
  }
  return name;
}

std::string plain_name(std::string_view name) {
  const std::string_view whole = without_clone(name);
  return std::string(without_parameters(whole)).append(name.substr(whole.size()));
}

bool names_function(std::string_view word, std::string_view display_name) {
  if (word.empty()) return false;
  const std::string_view whole = without_object(display_name), stem = loose_stem(whole);
  const std::string_view bare = without_parameters(stem);
  return ends_at_component(display_name, word) || ends_at_component(whole, word) ||
         ends_at_component(stem, word) || ends_at_component(bare, word) ||
         ends_at_component(without_brackets(bare, '<', '>'), word);
}

}  // namespace gnomon::reader
