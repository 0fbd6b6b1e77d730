// Finds the debug information that split DWARF keeps outside of a load object's files. Any thread,
// one at a time.
#pragma once
#include <elfutils/libdw.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "reader/base/result.h"
#include "reader/lines/split_file.h"

namespace gnomon::reader {

class SplitUnits {
 public:
  SplitUnits() = default;
  // files: of the load object. Beside these a package is looked for (FILE.dwp), and files without
  // a directory.
  explicit SplitUnits(std::vector<std::string> files) : files_(std::move(files)) {}

  // take(unit): of the compilation unit that the skeleton stands for; it is gone afterwards.
  // Fault: where its debug information is looked for, and why it is not read.
  Result<void> read(Dwarf_Die skeleton, const std::function<void(Dwarf_Die)>& take);

 private:
  // paths: where the file of the unit may be.
  Result<std::vector<MemorySection>> find(std::uint64_t unit,
                                          const std::vector<std::string>& paths);

  std::vector<std::string> files_;
  bool has_searched_ = false;        // for packages
  std::vector<SplitFile> packages_;  // those that are there
};

}  // namespace gnomon::reader
