// Text files of an experiment: lines of JSON that carry a checksum. Any thread.
#pragma once
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "reader/base/result.h"

namespace gnomon::reader {

struct NewLines {
  std::vector<nlohmann::json> whole;  // each an object
  std::uint64_t damaged = 0;          // lines whose checksum is wrong
};
// The lines of `path` from the byte `at` on, which is then behind the last of them. A missing file
// has no lines.
Result<NewLines> read_new_lines(const std::string& path, std::uint64_t& at);

// The lines of `path`, each an object. A last line without its end is being written and left out.
// Faults: no such file, a line whose checksum is wrong.
Result<std::vector<nlohmann::json>> read_lines(const std::string& path);

// A member of a line: `otherwise` where it is missing or of another type.
template <typename T>
T field(const nlohmann::json& object, const char* name, T otherwise = {}) {
  if (!object.is_object()) return otherwise;
  const auto at = object.find(name);
  if (at == object.end()) return otherwise;
  if constexpr (std::is_same_v<T, std::string>)
    return at->is_string() ? at->template get<T>() : otherwise;
  else
    return at->is_number_unsigned() ? at->template get<T>() : otherwise;
}

// An object or array in a line; null: there is none.
nlohmann::json member(const nlohmann::json& object, const char* name);

// "0x1f" is 31; what is missing is 0.
std::uint64_t hex(const nlohmann::json& object, const char* name);

}  // namespace gnomon::reader
