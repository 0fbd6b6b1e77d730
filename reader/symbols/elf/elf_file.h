// ELF files of load objects, which anybody may have written. Any thread, one at a time.
#pragma once
#include <gelf.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "reader/base/result.h"
#include "reader/io/file.h"

namespace gnomon::reader {

struct ElfEnd {
  void operator()(Elf* elf) const { elf_end(elf); }
};
using ElfHandle = std::unique_ptr<Elf, ElfEnd>;

// Opens the file if elfutils can read it within bounds: a regular file, not compressed, with no
// more headers than linkers write. Fault: says which of that is not so.
Result<File> open_elf(const std::string& path);

// Fault: a symbol table is compressed, or something expands to more than any program's. elfutils
// would expand it without a bound.
Result<void> check_sections(Elf* elf, const std::string& path);

// Returns true if the file itself has the names of static functions.
bool has_symbol_table(Elf* elf);

// Returns true if a section of debug information is compressed by zstd (elf(5), ELFCOMPRESS_ZSTD).
bool has_zstd_sections(Elf* elf);

// Fills its header. null: there is no section of that name.
Elf_Scn* section_named(Elf* elf, std::string_view name, GElf_Shdr& header);

// In hexadecimal digits; empty: the file has none.
std::string build_id_of(Elf* elf);

// Bytes that the file takes on the disk; 0: there is no such file.
std::uint64_t bytes_on_disk(const std::string& path);

// Counts the bytes of names, of which a file may have as many as it likes: strings overlap.
class NameRoom {
 public:
  // files: bytes that the files with the names take on the disk.
  explicit NameRoom(std::uint64_t files) : left_((64ull << 20) + 4 * files) {}
  // Returns false if that is more than names of such files can be.
  bool take(const char* name);
  // Returns true if a name has found no room.
  bool is_full() const { return is_full_; }

 private:
  std::uint64_t left_;
  bool is_full_ = false;
};

}  // namespace gnomon::reader
