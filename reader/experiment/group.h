// Groups of experiments. Any thread.
#pragma once
#include <string>
#include <vector>

#include "reader/base/result.h"

namespace gnomon::reader {

// The experiments that a path names: itself, or of a group (NAME.erg) the lines of that file, which
// are paths, as seen from its directory. (er_print(1), "experiment group".) Fault: the group cannot
// be read or names none.
Result<std::vector<std::string>> experiments_of(const std::string& path);

}  // namespace gnomon::reader
