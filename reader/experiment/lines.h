// Text files of an experiment: lines of JSON that carry a checksum. Any thread.
#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "reader/base/result.h"

namespace gnomon::reader {

// The lines of `path`, each an object. A last line without its end is being written and left out.
// Faults: no such file, a line whose checksum is wrong.
Result<std::vector<nlohmann::json>> read_lines(const std::string& path);

}  // namespace gnomon::reader
