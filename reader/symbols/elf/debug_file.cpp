// Finds the file that a load object's symbols were moved to. Any thread, one at a time.
#include "reader/symbols/elf/debug_file.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <zlib.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <vector>

#include "reader/symbols/elf/elf_file.h"

namespace gnomon::reader {
namespace {

const std::string kGlobal = "/usr/lib/debug";

// Where debuginfod-find keeps what it has fetched (debuginfod_find_debuginfo(3)); empty: nowhere.
std::string fetched_directory() {
  const auto value = [](const char* name) {
    const char* const text = std::getenv(name);
    return std::string(text ? text : "");
  };
  if (std::string own = value("DEBUGINFOD_CACHE_PATH"); !own.empty()) return own;
  if (const std::string cache = value("XDG_CACHE_HOME"); !cache.empty())
    return cache + "/debuginfod_client";
  const std::string home = value("HOME");
  return home.empty() ? "" : home + "/.cache/debuginfod_client";
}

std::string directory_of(const std::string& path) { return path.substr(0, path.rfind('/') + 1); }

// Of the recorded process's own root first.
std::vector<std::string> candidates(const DebugSearch& search, const std::string& link) {
  const ObjectSource& source = search.source;
  std::vector<std::string> directories{directory_of(source.known_as)};
  std::error_code error;
  const auto real = std::filesystem::canonical(source.root + source.known_as, error).string();
  if (!error && real.starts_with(source.root))
    if (const std::string at = directory_of(real.substr(source.root.size()));
        at != directories.front())
      directories.push_back(at);
  std::vector<std::string> paths;
  for (const std::string& root : {source.root, std::string()}) {
    if (search.build_id.size() > 2)
      paths.push_back(fmt::format("{}{}/.build-id/{}/{}.debug", root, kGlobal,
                                  search.build_id.substr(0, 2), search.build_id.substr(2)));
    if (!link.empty())
      for (const std::string& directory : directories)
        for (const std::string& path : {directory, directory + ".debug/", kGlobal + directory})
          paths.push_back(fmt::format("{}{}{}", root, path, link));
    if (root.empty()) break;
  }
  if (const std::string fetched = fetched_directory(); !fetched.empty() && !search.build_id.empty())
    paths.push_back(fetched + "/" + search.build_id + "/debuginfo");
  return paths;
}

// The CRC of the whole file as .gnu_debuglink has it; none: interrupted, or it cannot be read.
std::optional<std::uint32_t> checksum_of(const File& file, const Interrupt& interrupt) {
  std::vector<std::byte> piece(1 << 20);
  uLong sum = crc32(0, nullptr, 0);
  for (std::uint64_t at = 0;;) {
    const auto read = file.read(at, piece);
    if (!read || interrupt.asked()) return std::nullopt;
    if (*read == 0) return static_cast<std::uint32_t>(sum);
    sum = crc32(sum, reinterpret_cast<const Bytef*>(piece.data()), static_cast<uInt>(*read));
    at += *read;
  }
}

bool is_same_file(const std::string& a, const std::string& b) {
  struct stat first {
  }, second{};
  return stat(a.c_str(), &first) == 0 && stat(b.c_str(), &second) == 0 &&
         first.st_dev == second.st_dev && first.st_ino == second.st_ino;
}

// checksum: none: the user has named the file.
bool belongs(const File& file, const DebugSearch& search, std::optional<std::uint32_t> checksum) {
  const ElfHandle elf(elf_begin(file.descriptor(), ELF_C_READ_MMAP, nullptr));
  if (!elf || !check_sections(elf.get(), "")) return false;
  const std::string id = build_id_of(elf.get());
  if (!id.empty() && !search.build_id.empty()) return id == search.build_id;
  return !checksum || checksum_of(file, search.interrupt) == *checksum;
}

}  // namespace

int find_debug_file(Dwfl_Module*, void** data, const char*, Dwarf_Addr, const char*,
                    const char* link, GElf_Word checksum, char** found) {
  const DebugSearch& search = *static_cast<const DebugSearch*>(*data);
  const auto open = [&](const std::string& path, std::optional<std::uint32_t> expected) {
    auto file = open_elf(path);
    if (!file || is_same_file(path, search.source.path) || !belongs(*file, search, expected))
      return -1;
    *found = strdup(path.c_str());
    return file->release();
  };
  if (!search.source.debug_file.empty())
    if (const int file = open(search.source.debug_file, std::nullopt); file >= 0) return file;
  const std::string name = link && !std::strchr(link, '/') ? link : "";
  for (const std::string& path : candidates(search, name))
    if (const int file = open(path, checksum); file >= 0) return file;
  return -1;
}

}  // namespace gnomon::reader
