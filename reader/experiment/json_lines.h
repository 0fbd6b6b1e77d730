// Text files of an experiment: lines of JSON that carry a checksum. Any thread.
#pragma once
#include <cstdint>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "reader/base/result.h"

namespace gnomon::reader {

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

// Gives `take` the lines of `path` from the byte `at` on, which is then behind the last of them.
// Returns how many are damaged: their checksum is wrong, or `take` returned false. A missing file
// has no lines. session: of the experiment; a line of another one is damaged. Fault: a line is
// longer than any.
using TakeNewLine = std::function<bool(const nlohmann::json&)>;
Result<std::uint64_t> each_new_line(const std::string& path, std::uint64_t session,
                                    std::uint64_t& at, const TakeNewLine& take);

// Gives `take` the lines of `path`, each an object. A last line without its end is being written
// and left out. Faults: no such file, a line that is damaged, what `take` returned. session: of the
// experiment; 0: of header.json.
using TakeLine = std::function<Result<void>(const nlohmann::json&)>;
Result<void> each_line(const std::string& path, std::uint64_t session, const TakeLine& take);

}  // namespace gnomon::reader
