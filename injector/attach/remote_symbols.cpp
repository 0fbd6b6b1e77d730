// Functions of a running process, from the dynamic tables in its memory: also where its files are
// gone or in another mount namespace. Any thread; stops nothing.
#include "injector/attach/remote_symbols.h"

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <vector>

#include "injector/attach/remote_process.h"

namespace gnomon::injector {
namespace {

// A load object in memory. Every address is checked by the read that uses it.
class Image {
 public:
  // `base`: where its first page is mapped. Empty: not a 64-bit x86 load object with a hash table.
  static std::optional<Image> at(pid_t pid, std::uint64_t base);
  // 0: it defines no such function.
  std::uint64_t function(const char* name) const;

 private:
  bool read_dynamic(std::uint64_t address, std::uint64_t bytes);
  std::uint64_t defined(std::uint32_t index, const char* name) const;
  std::uint64_t by_gnu_hash(const char* name) const;
  std::uint64_t by_hash(const char* name) const;
  // glibc relocates these words in memory, other loaders do not.
  std::uint64_t relocated(std::uint64_t value) const {
    return value < base_ ? value + bias_ : value;
  }

  pid_t pid_ = 0;
  std::uint64_t base_ = 0, bias_ = 0;
  std::uint64_t symbols_ = 0, names_ = 0, gnu_hash_ = 0, hash_ = 0;
};

std::optional<Image> Image::at(pid_t pid, std::uint64_t base) {
  const auto header = read_value<Elf64_Ehdr>(pid, base);
  if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
      header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_machine != EM_X86_64)
    return std::nullopt;
  Image image;
  image.pid_ = pid;
  image.base_ = base;
  std::uint64_t lowest = ~0ull, dynamic = 0, bytes = 0;
  for (unsigned i = 0; i < header->e_phnum; ++i) {
    const auto segment =
        read_value<Elf64_Phdr>(pid, base + header->e_phoff + i * sizeof(Elf64_Phdr));
    if (!segment) return std::nullopt;
    if (segment->p_type == PT_LOAD) lowest = std::min<std::uint64_t>(lowest, segment->p_vaddr);
    if (segment->p_type == PT_DYNAMIC) dynamic = segment->p_vaddr, bytes = segment->p_memsz;
  }
  image.bias_ = base - (lowest & ~0xfffull);
  if (dynamic == 0 || !image.read_dynamic(image.bias_ + dynamic, bytes)) return std::nullopt;
  return image;
}

bool Image::read_dynamic(std::uint64_t address, std::uint64_t bytes) {
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

// An indirect function (STT_GNU_IFUNC) would have to be asked which it is: none of ours is one.
std::uint64_t Image::defined(std::uint32_t index, const char* name) const {
  const auto symbol =
      read_value<Elf64_Sym>(pid_, symbols_ + std::uint64_t{index} * sizeof(Elf64_Sym));
  if (!symbol || symbol->st_shndx == SHN_UNDEF || ELF64_ST_TYPE(symbol->st_info) != STT_FUNC)
    return 0;
  std::array<char, 64> text{};
  const std::size_t length = std::strlen(name) + 1;
  if (length > text.size() || !read_memory(pid_, names_ + symbol->st_name, text.data(), length) ||
      std::memcmp(text.data(), name, length) != 0)
    return 0;
  return bias_ + symbol->st_value;
}

// System V ABI, "Hash Table"; its chains end, so a loop in damaged memory is bounded by their
// number.
std::uint64_t Image::by_hash(const char* name) const {
  const auto counts = read_value<std::array<std::uint32_t, 2>>(pid_, hash_);
  for (std::uint32_t i = 0; counts && i < (*counts)[1]; ++i)
    if (const std::uint64_t found = defined(i, name)) return found;
  return 0;
}

// The GNU hash table: buckets, offset of the first symbol in it, words of the Bloom filter.
std::uint64_t Image::by_gnu_hash(const char* name) const {
  const auto head = read_value<std::array<std::uint32_t, 4>>(pid_, gnu_hash_);
  if (!head || (*head)[0] == 0) return 0;
  const auto [buckets, first, filter, shift] = *head;
  std::uint32_t hash = 5381;
  for (const char* c = name; *c; ++c) hash = hash * 33 + static_cast<unsigned char>(*c);
  const std::uint64_t bucket = gnu_hash_ + sizeof *head + std::uint64_t{filter} * 8;
  const std::uint64_t chain = bucket + std::uint64_t{buckets} * 4;
  const auto start = read_value<std::uint32_t>(pid_, bucket + std::uint64_t{hash % buckets} * 4);
  if (!start || *start < first) return 0;
  for (std::uint32_t i = *start;; ++i) {
    const auto word = read_value<std::uint32_t>(pid_, chain + std::uint64_t{i - first} * 4);
    if (!word) return 0;
    if ((*word | 1) == (hash | 1))
      if (const std::uint64_t found = defined(i, name)) return found;
    if (*word & 1) return 0;
  }
}

std::uint64_t Image::function(const char* name) const {
  return gnu_hash_ != 0 ? by_gnu_hash(name) : by_hash(name);
}

std::string file_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

// In the order in which the program's own calls are bound; -1: not asked. libpthread and libdl: a
// glibc older than 2.34.
int rank(const Mapping& mapping, const std::string& executable) {
  if (mapping.path == executable) return 0;
  const std::string name = file_name(mapping.path);
  if (name.starts_with("libasan.") || name.starts_with("libtsan.") ||
      name.starts_with("libclang_rt."))
    return 1;
  if (name.starts_with("libc.so") || name.starts_with("libc-2.")) return 2;
  if (name.starts_with("libpthread") || name.starts_with("libdl")) return 3;
  return -1;
}

std::vector<Image> images_of(pid_t pid) {
  const std::string executable = proc_link(pid, "exe");
  std::vector<std::pair<int, Image>> ranked;
  for (const Mapping& mapping : mappings_of(pid)) {
    if (mapping.offset != 0 || !mapping.path.starts_with("/")) continue;
    const int order = rank(mapping, executable);
    if (order < 0) continue;
    if (const auto image = Image::at(pid, mapping.begin)) ranked.emplace_back(order, *image);
  }
  std::stable_sort(ranked.begin(), ranked.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<Image> images;
  for (auto& [order, image] : ranked) images.push_back(image);
  return images;
}

}  // namespace

Result<LoaderFunctions> find_loader_functions(pid_t pid) {
  const std::vector<Image> images = images_of(pid);
  const auto find = [&](const char* name) {
    for (const Image& image : images)
      if (const std::uint64_t found = image.function(name)) return found;
    return std::uint64_t{0};
  };
  const LoaderFunctions found{find("pthread_create"), find("pthread_detach"), find("dlopen"),
                              find("dlsym"), find("dlerror")};
  if (images.empty())
    return fault("process " + std::to_string(pid) +
                     " has no dynamic libc, so no library can be loaded into it",
                 "link it without -static");
  for (const std::uint64_t address :
       {found.pthread_create, found.pthread_detach, found.dlopen, found.dlsym, found.dlerror})
    if (address == 0)
      return fault("the libc of process " + std::to_string(pid) +
                       " lacks dlopen or pthread_create, so no library can be loaded into it",
                   "start the program from the debugger instead");
  return found;
}

}  // namespace gnomon::injector
