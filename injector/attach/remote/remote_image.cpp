// A load object of a running process, read from the dynamic tables in its memory, so that its file
// may be gone or in another mount namespace. Any thread; stops nothing.
#include "injector/attach/remote/remote_image.h"

#include <elf.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "injector/attach/remote/remote_process.h"
#include "libcollector/format/attach.h"

namespace gnomon::injector {
namespace {

// Returns the original of a hook's replacement, or `hook` itself if it is no replacement.
std::uint64_t behind_hook(pid_t pid, std::uint64_t hook) {
  constexpr std::uint64_t kMostBytes = 1 << 20;
  for (const RemoteImage& collector : collectors_in(pid)) {
    const std::uint64_t at = collector.data(format::kHookTable);
    const auto table = at != 0 ? read_value<format::HookTable>(pid, at) : std::nullopt;
    if (!table || table->row_bytes < sizeof(format::HookedFunction) ||
        table->end - table->begin > kMostBytes)
      continue;
    std::vector<char> rows(table->end - table->begin);
    if (!read_memory(pid, table->begin, rows.data(), rows.size())) continue;
    for (std::size_t row = 0; row + table->row_bytes <= rows.size(); row += table->row_bytes) {
      format::HookedFunction hooked{};
      std::memcpy(&hooked, &rows[row], sizeof hooked);
      if (hooked.replacement == hook && hooked.original != 0) return hooked.original;
    }
  }
  return hook;
}

}  // namespace

std::optional<RemoteImage> RemoteImage::at(pid_t pid, std::uint64_t base) {
  const auto header = read_value<Elf64_Ehdr>(pid, base);
  if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
      header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_machine != EM_X86_64)
    return std::nullopt;
  RemoteImage image;
  image.pid_ = pid;
  image.base_ = base;
  std::uint64_t lowest = ~0ull, highest = 0, dynamic = 0, bytes = 0;
  for (unsigned i = 0; i < header->e_phnum; ++i) {
    const auto segment =
        read_value<Elf64_Phdr>(pid, base + header->e_phoff + i * sizeof(Elf64_Phdr));
    if (!segment) return std::nullopt;
    if (segment->p_type == PT_LOAD) {
      lowest = std::min<std::uint64_t>(lowest, segment->p_vaddr);
      highest = std::max<std::uint64_t>(highest, segment->p_vaddr + segment->p_memsz);
    }
    if (segment->p_type == PT_DYNAMIC) dynamic = segment->p_vaddr, bytes = segment->p_memsz;
  }
  image.bias_ = base - (lowest & ~0xfffull);
  image.end_ = image.bias_ + highest;
  if (dynamic == 0 || !image.read_dynamic(image.bias_ + dynamic, bytes)) return std::nullopt;
  return image;
}

bool RemoteImage::read_dynamic(std::uint64_t address, std::uint64_t bytes) {
  for (std::uint64_t at = 0; at + sizeof(Elf64_Dyn) <= bytes; at += sizeof(Elf64_Dyn)) {
    const auto entry = read_value<Elf64_Dyn>(pid_, address + at);
    if (!entry || entry->d_tag == DT_NULL) break;
    const std::uint64_t value = relocated(entry->d_un.d_ptr);
    if (entry->d_tag == DT_SYMTAB) symbols_ = value;
    if (entry->d_tag == DT_STRTAB) names_ = value;
    if (entry->d_tag == DT_GNU_HASH) gnu_hash_ = value;
    if (entry->d_tag == DT_HASH) hash_ = value;
  }
  return symbols_ != 0 && names_ != 0 && (gnu_hash_ != 0 || hash_ != 0);
}

// An indirect function (STT_GNU_IFUNC) would have to be resolved by a call; none of the functions
// needed here is one.
std::optional<AddressRange> RemoteImage::at_index(std::uint32_t index, unsigned type,
                                                  const char* name) const {
  const auto symbol =
      read_value<Elf64_Sym>(pid_, symbols_ + std::uint64_t{index} * sizeof(Elf64_Sym));
  if (!symbol || symbol->st_shndx == SHN_UNDEF || ELF64_ST_TYPE(symbol->st_info) != type)
    return std::nullopt;
  std::array<char, 64> text{};
  const std::size_t length = std::strlen(name) + 1;
  if (length > text.size() || !read_memory(pid_, names_ + symbol->st_name, text.data(), length) ||
      std::memcmp(text.data(), name, length) != 0)
    return std::nullopt;
  std::uint64_t begin = bias_ + symbol->st_value;
  if (type == STT_FUNC && (begin < base_ || begin >= end_)) begin = behind_hook(pid_, begin);
  return AddressRange{begin, begin + symbol->st_size};
}

// System V ABI, "Hash Table". The number of chain entries bounds the search in damaged memory.
std::vector<AddressRange> RemoteImage::by_hash(unsigned type, const char* name) const {
  std::vector<AddressRange> found;
  const auto counts = read_value<std::array<std::uint32_t, 2>>(pid_, hash_);
  for (std::uint32_t i = 0; counts && i < (*counts)[1]; ++i)
    if (const auto one = at_index(i, type, name)) found.push_back(*one);
  return found;
}

// The GNU hash table: buckets, offset of the first symbol in it, words of the Bloom filter.
std::vector<AddressRange> RemoteImage::by_gnu_hash(unsigned type, const char* name) const {
  std::vector<AddressRange> found;
  const auto head = read_value<std::array<std::uint32_t, 4>>(pid_, gnu_hash_);
  if (!head || (*head)[0] == 0) return found;
  const auto [buckets, first, filter, shift] = *head;
  std::uint32_t hash = 5381;
  for (const char* c = name; *c; ++c) hash = hash * 33 + static_cast<unsigned char>(*c);
  const std::uint64_t bucket = gnu_hash_ + sizeof *head + std::uint64_t{filter} * 8;
  const std::uint64_t chain = bucket + std::uint64_t{buckets} * 4;
  const auto start = read_value<std::uint32_t>(pid_, bucket + std::uint64_t{hash % buckets} * 4);
  if (!start || *start < first) return found;
  for (std::uint32_t i = *start;; ++i) {
    const auto word = read_value<std::uint32_t>(pid_, chain + std::uint64_t{i - first} * 4);
    if (!word) return found;
    if ((*word | 1) == (hash | 1))
      if (const auto one = at_index(i, type, name)) found.push_back(*one);
    if (*word & 1) return found;
  }
}

std::vector<AddressRange> RemoteImage::defined(unsigned type, const char* name) const {
  return gnu_hash_ != 0 ? by_gnu_hash(type, name) : by_hash(type, name);
}

std::vector<AddressRange> RemoteImage::functions(const char* name) const {
  return defined(STT_FUNC, name);
}

std::uint64_t RemoteImage::function(const char* name) const {
  const auto found = functions(name);
  return found.empty() ? 0 : found.front().begin;
}

std::uint64_t RemoteImage::data(const char* name) const {
  const auto found = defined(STT_OBJECT, name);
  return found.empty() ? 0 : found.front().begin;
}

// A file that was replaced has " (deleted)" behind its path.
std::vector<RemoteImage> collectors_in(pid_t pid) {
  std::vector<RemoteImage> found;
  for (const Mapping& mapping : mappings_of(pid)) {
    if (mapping.offset != 0 || mapping.path.find("/libcollector.so") == std::string::npos) continue;
    if (const auto image = RemoteImage::at(pid, mapping.begin)) found.push_back(*image);
  }
  return found;
}

}  // namespace gnomon::injector
