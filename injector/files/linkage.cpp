// The dynamic section of a program's file: needed libraries and symbols. Any thread.
#include "injector/files/linkage.h"

#include <elf.h>

#include <cstdint>
#include <fstream>

#include "injector/files/read_at.h"

namespace gnomon::injector {
namespace {

constexpr std::uint64_t kMostBytes = 256 << 20;  // of a string table

std::vector<Elf64_Phdr> all_segments(std::ifstream& file, const Elf64_Ehdr& header) {
  std::vector<Elf64_Phdr> segments(header.e_phnum);
  for (std::size_t i = 0; i < segments.size(); ++i)
    if (!read_at(file, header.e_phoff + i * sizeof(Elf64_Phdr), segments[i])) return {};
  return segments;
}

std::optional<std::uint64_t> offset_of(const std::vector<Elf64_Phdr>& segments,
                                       std::uint64_t address) {
  for (const Elf64_Phdr& segment : segments)
    if (segment.p_type == PT_LOAD && address - segment.p_vaddr < segment.p_filesz)
      return segment.p_offset + (address - segment.p_vaddr);
  return std::nullopt;
}

struct Dynamic {
  std::uint64_t names = 0, names_bytes = 0;  // address
  std::vector<std::uint64_t> needed;         // places in names
  std::optional<std::uint64_t> own;          // place of its own name
};
Dynamic dynamic_of(std::ifstream& file, const Elf64_Phdr& segment) {
  Dynamic found;
  for (std::uint64_t at = 0; at + sizeof(Elf64_Dyn) <= segment.p_filesz; at += sizeof(Elf64_Dyn)) {
    Elf64_Dyn entry{};
    if (!read_at(file, segment.p_offset + at, entry) || entry.d_tag == DT_NULL) break;
    if (entry.d_tag == DT_STRTAB) found.names = entry.d_un.d_ptr;
    if (entry.d_tag == DT_STRSZ) found.names_bytes = entry.d_un.d_val;
    if (entry.d_tag == DT_SONAME) found.own = entry.d_un.d_val;
    if (entry.d_tag == DT_NEEDED) found.needed.push_back(entry.d_un.d_val);
  }
  return found;
}

}  // namespace

std::optional<Linkage> Linkage::of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  Elf64_Ehdr header{};
  if (!file || !read_at(file, 0, header)) return std::nullopt;
  const std::vector<Elf64_Phdr> segments = all_segments(file, header);
  for (const Elf64_Phdr& segment : segments) {
    if (segment.p_type != PT_DYNAMIC) continue;
    const Dynamic dynamic = dynamic_of(file, segment);
    const auto offset = offset_of(segments, dynamic.names);
    if (!offset || dynamic.names_bytes == 0 || dynamic.names_bytes > kMostBytes) break;
    Linkage found;
    found.names_.resize(dynamic.names_bytes);
    file.clear();
    if (!file.seekg(static_cast<std::streamoff>(*offset))
             .read(found.names_.data(), static_cast<std::streamsize>(found.names_.size())))
      break;
    for (const std::uint64_t at : dynamic.needed)
      if (at < found.names_.size()) found.needed_.emplace_back(found.names_.c_str() + at);
    if (dynamic.own && *dynamic.own < found.names_.size())
      found.soname_ = found.names_.c_str() + *dynamic.own;
    return found;
  }
  return std::nullopt;
}

// The linker may store a name as the end of a longer one.
bool Linkage::has_symbol(std::string_view name) const {
  return names_.find(std::string(name) + '\0') != std::string::npos;
}

}  // namespace gnomon::injector
