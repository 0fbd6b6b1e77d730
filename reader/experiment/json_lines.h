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
// Which numbers of lines were met. Lines are numbered from 0, each number stands once.
class LineNumbers {
 public:
  // Returns false if the line has no number, if another line has the same number, or if the number
  // is larger than the number of lines that any file has.
  bool add(const nlohmann::json& line);
  // How many of the first `begun` numbers were not met.
  std::uint64_t missing(std::uint64_t begun) const;

 private:
  std::vector<bool> met_;
};

// The lines of `path` from the byte `at` on, which is then behind the last of them. A missing file
// has no lines. session: of the experiment; a line of another one is damaged.
Result<NewLines> read_new_lines(const std::string& path, std::uint64_t session, std::uint64_t& at);

// The lines of `path`, each an object. A last line without its end is being written and left out.
// Faults: no such file, a line whose checksum is wrong. session: of the experiment; 0: of
// header.json.
Result<std::vector<nlohmann::json>> read_lines(const std::string& path, std::uint64_t session);

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
