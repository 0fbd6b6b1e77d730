// ELF files of load objects, which anybody may have written. Any thread, one at a time.
#include "reader/symbols/elf/elf_file.h"

#include <elf.h>
#include <elfutils/libdwelf.h>
#include <fmt/format.h>
#include <gelf.h>
#include <lzma.h>

#include <array>
#include <cstring>
#include <span>
#include <vector>

namespace gnomon::reader {
namespace {

constexpr std::uint64_t kMostSections = 1 << 20;
constexpr std::uint64_t kMostExpanded = 256 << 20;  // of .gnu_debugdata, bytes
constexpr std::uint64_t kMostDebug = 16ull << 30;   // of sections that are compressed, bytes

template <typename T>
bool read_at(const File& file, std::uint64_t offset, T& into) {
  const auto read = file.read(offset, std::as_writable_bytes(std::span(&into, 1)));
  return read && *read == sizeof into;
}

// A file with 0 sections has their number in the first one.
bool has_usual_headers(const File& file) {
  Elf64_Ehdr header{};
  if (!read_at(file, 0, header) || header.e_ident[EI_CLASS] != ELFCLASS64) return true;
  if (header.e_phnum == PN_XNUM) return false;
  Elf64_Shdr first{};
  return header.e_shnum != 0 || header.e_shoff == 0 || !read_at(file, header.e_shoff, first) ||
         first.sh_size <= kMostSections;
}

struct Expansion {
  lzma_stream stream = LZMA_STREAM_INIT;
  ~Expansion() { lzma_end(&stream); }
};

// MiniDebugInfo is a compressed ELF file, https://sourceware.org/gdb/current/onlinedocs/gdb.html,
// "MiniDebugInfo".
bool expands_to_much(const Elf_Data& data) {
  constexpr std::uint64_t kMemory = 256 << 20;
  Expansion expansion;
  lzma_stream& stream = expansion.stream;
  if (lzma_stream_decoder(&stream, kMemory, 0) != LZMA_OK) return false;
  stream.next_in = static_cast<const std::uint8_t*>(data.d_buf);
  stream.avail_in = data.d_size;
  std::vector<std::uint8_t> piece(1 << 16);
  lzma_ret state = LZMA_OK;
  while (state == LZMA_OK && stream.total_out <= kMostExpanded) {
    stream.next_out = piece.data();
    stream.avail_out = piece.size();
    state = lzma_code(&stream, LZMA_FINISH);
  }
  return stream.total_out > kMostExpanded || state == LZMA_MEMLIMIT_ERROR;
}

// Of a compressed section; 0: it is none. zlib expands to at most 1032 times the size
// (https://zlib.net/zlib_tech.html): a header that says more is damaged, and its section unread.
std::uint64_t expanded_bytes(Elf_Scn* section, const GElf_Shdr& header) {
  constexpr std::uint64_t kMostTimes = 1032;
  GElf_Chdr compressed;
  if ((header.sh_flags & SHF_COMPRESSED) == 0 || !gelf_getchdr(section, &compressed)) return 0;
  return compressed.ch_size / kMostTimes > header.sh_size ? ~std::uint64_t{0} >> 8
                                                          : compressed.ch_size;
}

// take(section, header, name), which returns false to end.
template <typename Take>
void each_section(Elf* elf, Take take) {
  std::size_t names = 0;
  if (elf_getshdrstrndx(elf, &names) != 0) return;
  for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf, section));) {
    GElf_Shdr header;
    if (!gelf_getshdr(section, &header)) continue;
    const char* name = elf_strptr(elf, names, header.sh_name);
    if (!take(section, header, std::string_view(name ? name : ""))) return;
  }
}

constexpr std::string_view kMiniDebugInfo = ".gnu_debugdata";

}  // namespace

Result<File> open_elf(const std::string& path) {
  auto file = File::open(path);
  if (!file) return file;
  std::array<char, SELFMAG> magic{};
  if (!read_at(*file, 0, magic) || std::memcmp(magic.data(), ELFMAG, SELFMAG) != 0)
    return fault(path + " is not an ELF file");
  if (!has_usual_headers(*file)) return fault(path + " is damaged: it has too many headers");
  return file;
}

Result<void> check_sections(Elf* elf, const std::string& path) {
  Result<void> result;
  std::uint64_t expanded = 0;
  each_section(elf, [&](Elf_Scn* section, const GElf_Shdr& header, std::string_view name) {
    const bool is_table = header.sh_type == SHT_SYMTAB || header.sh_type == SHT_DYNSYM ||
                          header.sh_type == SHT_STRTAB || header.sh_type == SHT_SYMTAB_SHNDX;
    if (is_table && (header.sh_flags & SHF_COMPRESSED) != 0)
      result = fault(path + " has a compressed symbol table");
    expanded += expanded_bytes(section, header);
    if (expanded > kMostDebug) result = fault(path + " expands to more than 16 GB");
    if (name != kMiniDebugInfo || header.sh_type == SHT_NOBITS) return bool(result);
    const Elf_Data* data = elf_rawdata(section, nullptr);
    if (data && data->d_buf && expands_to_much(*data))
      result = fault(path + " has compressed symbols of more than 256 MB");
    return bool(result);
  });
  return result;
}

bool has_symbol_table(Elf* elf) {
  bool has = false;
  each_section(elf, [&](Elf_Scn*, const GElf_Shdr& header, std::string_view name) {
    has = header.sh_type == SHT_SYMTAB || name == kMiniDebugInfo;
    return !has;
  });
  return has;
}

bool has_zstd_sections(Elf* elf) {
  constexpr std::uint32_t kZstd = 2;  // ELFCOMPRESS_ZSTD, which elfutils 0.188 does not know
  bool has = false;
  each_section(elf, [&](Elf_Scn* section, const GElf_Shdr& header, std::string_view name) {
    GElf_Chdr compressed;
    has = name.starts_with(".debug_") && (header.sh_flags & SHF_COMPRESSED) != 0 &&
          gelf_getchdr(section, &compressed) && compressed.ch_type == kZstd;
    return !has;
  });
  return has;
}

Elf_Scn* section_named(Elf* elf, std::string_view name, GElf_Shdr& header) {
  Elf_Scn* found = nullptr;
  each_section(elf, [&](Elf_Scn* section, const GElf_Shdr& its, std::string_view its_name) {
    if (its_name != name) return true;
    found = section;
    header = its;
    return false;
  });
  return found;
}

std::string build_id_of(Elf* elf) {
  const void* id = nullptr;
  const ssize_t length = dwelf_elf_gnu_build_id(elf, &id);
  std::string digits;
  for (ssize_t i = 0; i < length; ++i)
    digits += fmt::format("{:02x}", static_cast<const unsigned char*>(id)[i]);
  return digits;
}

std::uint64_t bytes_on_disk(const std::string& path) {
  const auto file = File::open(path);
  return file ? file->bytes_on_disk() : 0;
}

bool NameRoom::take(const char* name) {
  const std::size_t length = std::strlen(name);
  is_full_ = is_full_ || length > left_;
  if (!is_full_) left_ -= length;
  return !is_full_;
}

}  // namespace gnomon::reader
