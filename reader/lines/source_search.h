// Finds source files where they are now. Any thread.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "reader/base/result.h"

namespace gnomon::reader {

struct SourceSearch {
  // Beginnings of recorded paths, and what stands there now; the first that fits and leads to a
  // file counts.
  std::vector<std::pair<std::string, std::string>> maps;
  // Directories in which files are looked for that are nowhere else: a recorded path's end below
  // the directory, the longest that is there.
  std::vector<std::string> directories = {"."};

  // Where the file is that was compiled from `path`; empty: nowhere.
  std::string find(const std::string& path) const;
};

// The lines of a text file, without their ends. Fault: it cannot be read, or is larger than source
// is.
Result<std::vector<std::string>> read_lines(const std::string& path);

}  // namespace gnomon::reader
