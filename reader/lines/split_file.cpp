// A file with split DWARF: .dwo, an object file of -gsplit-dwarf=single, or a package (.dwp).
// Any thread, one at a time.
#include "reader/lines/split_file.h"

#include <gelf.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <span>
#include <utility>

namespace gnomon::reader {
namespace {

constexpr std::uint64_t kMostOfUnit = 1ull << 30;  // bytes of one section of a unit
constexpr std::string_view kStrings = ".debug_str.dwo", kOffsets = ".debug_str_offsets.dwo";

template <typename T>
bool read_at(std::string_view bytes, std::uint64_t offset, T& into) {
  if (offset > bytes.size() || bytes.size() - offset < sizeof into) return false;
  std::memcpy(&into, bytes.data() + offset, sizeof into);
  return true;
}

struct Kind {
  std::uint32_t number;
  std::string_view section;
};
// DW_SECT_ (DWARF 5, table 7.1). Version 2 of a package has the same numbers for the sections that
// it knows (https://gcc.gnu.org/wiki/DebugFissionDWP), and none of ranges.
constexpr std::array kKinds = {Kind{1, ".debug_info.dwo"}, Kind{3, ".debug_abbrev.dwo"},
                               Kind{4, ".debug_line.dwo"}, Kind{6, kOffsets},
                               Kind{8, ".debug_rnglists.dwo"}};

struct Contribution {
  std::uint32_t kind = 0, offset = 0, size = 0;
};

struct PackageRow {
  std::uint16_t version = 0;
  std::vector<Contribution> contributions;
};

// .debug_cu_index (DWARF 5, 7.3.5.3). nullopt: the unit is not in it.
std::optional<PackageRow> row_of(std::string_view index, std::uint64_t unit) {
  constexpr std::uint32_t kMostColumns = 16;
  PackageRow found;
  std::uint32_t columns = 0, units = 0, slots = 0;
  if (!read_at(index, 0, found.version) || !read_at(index, 4, columns) ||
      !read_at(index, 8, units) || !read_at(index, 12, slots) || columns > kMostColumns ||
      slots == 0 || (slots & (slots - 1)) != 0)
    return std::nullopt;
  const std::uint64_t mask = slots - 1, step = (unit >> 32 & mask) | 1;
  const std::uint64_t ids = 16, rows = ids + 8ull * slots, offsets = rows + 4ull * slots,
                      sizes = offsets + 4ull * columns * (std::uint64_t{units} + 1);
  std::uint64_t slot = unit & mask;
  for (std::uint32_t i = 0; i < slots; ++i, slot = (slot + step) & mask) {
    std::uint64_t id = 0;
    std::uint32_t row = 0;
    if (!read_at(index, ids + 8 * slot, id) || !read_at(index, rows + 4 * slot, row) || row == 0 ||
        row > units)
      return std::nullopt;
    if (id != unit) continue;
    for (std::uint64_t column = 0; column < columns; ++column) {
      Contribution part;
      if (!read_at(index, offsets + 4 * column, part.kind) ||
          !read_at(index, offsets + 4 * (row * std::uint64_t{columns} + column), part.offset) ||
          !read_at(index, sizes + 4 * ((row - 1) * std::uint64_t{columns} + column), part.size))
        return std::nullopt;
      found.contributions.push_back(part);
    }
    return found;
  }
  return std::nullopt;
}

}  // namespace

Result<SplitFile> SplitFile::open(const std::string& path) {
  auto file = open_elf(path);
  if (!file) return tl::unexpected(file.error());
  SplitFile opened;
  opened.path_ = path;
  opened.file_ = std::move(*file);
  opened.elf_.reset(elf_begin(opened.file_.descriptor(), ELF_C_READ, nullptr));
  if (!opened.elf_) return fault(path + ": " + elf_errmsg(-1));
  if (auto fits = check_sections(opened.elf_.get(), path); !fits)
    return tl::unexpected(fits.error());
  return opened;
}

std::string SplitFile::bytes(std::string_view name, std::uint64_t offset, std::uint64_t size) {
  GElf_Shdr header;
  Elf_Scn* const section = section_named(elf_.get(), name, header);
  if (!section || header.sh_type == SHT_NOBITS) return {};
  if ((header.sh_flags & SHF_COMPRESSED) != 0) {
    if (elf_compress(section, 0, 0) < 0) return {};
    const Elf_Data* const data = elf_getdata(section, nullptr);
    if (!data || !data->d_buf || offset >= data->d_size) return {};
    return {static_cast<const char*>(data->d_buf) + offset,
            std::min<std::uint64_t>(size, data->d_size - offset)};
  }
  const std::uint64_t end = std::min<std::uint64_t>(header.sh_size, file_.size());
  if (offset >= end) return {};
  std::string read(std::min({size, end - offset, kMostOfUnit}), '\0');
  const auto count = file_.read(header.sh_offset + offset, std::as_writable_bytes(std::span(read)));
  read.resize(count ? *count : 0);
  return read;
}

Result<std::vector<MemorySection>> SplitFile::sections_of(std::uint64_t unit) {
  const std::string index = bytes(".debug_cu_index");
  if (!index.empty()) return in_package(index, unit);
  std::vector<MemorySection> sections;
  for (const Kind& kind : kKinds)
    sections.push_back({std::string(kind.section), bytes(kind.section)});
  sections.push_back({std::string(kStrings), bytes(kStrings)});
  return sections;
}

Result<std::vector<MemorySection>> SplitFile::in_package(const std::string& index,
                                                         std::uint64_t unit) {
  const auto row = row_of(index, unit);
  if (!row) return fault(path_ + " does not have it");
  std::vector<MemorySection> sections;
  for (const Contribution& part : row->contributions) {
    const auto kind = std::find_if(kKinds.begin(), kKinds.end(),
                                   [&](const Kind& known) { return known.number == part.kind; });
    if (kind == kKinds.end()) continue;
    sections.push_back({std::string(kind->section), bytes(kind->section, part.offset, part.size)});
    if (kind->section == kOffsets)
      sections.push_back({std::string(kStrings), strings_of(sections.back().bytes, row->version)});
  }
  return sections;
}

std::string SplitFile::strings_of(std::string& offsets, std::uint32_t version) {
  constexpr std::size_t kHeader = 8;  // of version 5: length, version, padding
  if (!strings_) strings_ = bytes(kStrings);
  std::string text;
  for (std::size_t at = version < 5 ? 0 : kHeader; text.size() < kMostOfUnit; at += 4) {
    std::uint32_t offset = 0;
    if (!read_at(offsets, at, offset)) break;
    const auto begin = static_cast<std::uint32_t>(text.size());
    if (offset < strings_->size()) text += strings_->c_str() + offset;
    text += '\0';
    std::memcpy(offsets.data() + at, &begin, sizeof begin);
  }
  return text;
}

}  // namespace gnomon::reader
