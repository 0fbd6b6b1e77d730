// How much of a load object reports show. Any thread.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gnomon::reader {

// show: all its functions. api: those that other objects call; what they call within the object
// counts for them. hide: the object as if it were one function.
enum class Expansion : std::uint8_t { show, api, hide };
constexpr std::string_view word(Expansion expansion) {
  return expansion == Expansion::show ? "show" : expansion == Expansion::api ? "api" : "hide";
}

// Choices that were made one after another.
class Expansions {
 public:
  // object: a path or its last component; "all": every object, whatever was chosen before.
  void choose(const std::string& object, Expansion expansion) {
    if (object == "all") rules_.clear();
    if (object != "all" || expansion != Expansion::show) rules_.emplace_back(object, expansion);
  }
  Expansion of(std::string_view path) const {
    for (auto rule = rules_.rbegin(); rule != rules_.rend(); ++rule)
      if (rule->first == "all" || means(rule->first, path)) return rule->second;
    return Expansion::show;
  }
  bool empty() const { return rules_.empty(); }
  bool operator==(const Expansions&) const = default;

  static bool means(std::string_view object, std::string_view path) {
    return object == path || object == path.substr(path.rfind('/') + 1);
  }

 private:
  std::vector<std::pair<std::string, Expansion>> rules_;
};

}  // namespace gnomon::reader
