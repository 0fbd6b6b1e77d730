// A file with split DWARF: .dwo, an object file of -gsplit-dwarf=single, or a package (.dwp).
// Any thread, one at a time.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reader/base/result.h"
#include "reader/io/file.h"
#include "reader/symbols/elf/elf_file.h"
#include "reader/symbols/elf/memory_elf.h"

namespace gnomon::reader {

class SplitFile {
 public:
  // Fault: there is no such file, or it cannot be read within bounds.
  static Result<SplitFile> open(const std::string& path);

  // The sections of a compilation unit, with the names that they have in a .dwo file. Of a file
  // that is no package: those of all of its units. Fault: the package has no such unit, or is
  // damaged.
  Result<std::vector<MemorySection>> sections_of(std::uint64_t unit);

 private:
  // Bytes of a section from `offset` on, at most `size`; empty: there is no such section.
  std::string bytes(std::string_view name, std::uint64_t offset = 0, std::uint64_t size = ~0ull);
  Result<std::vector<MemorySection>> in_package(const std::string& index, std::uint64_t unit);
  // Of those that the unit's offsets lead to, and the offsets become theirs.
  std::string strings_of(std::string& offsets, std::uint32_t version);

  std::string path_;
  File file_;
  ElfHandle elf_;
  std::optional<std::string> strings_;  // of a package: all
};

}  // namespace gnomon::reader
