// Preflight of a launch: can the loader put libcollector.so into this program? Any thread.
#include "injector/preflight.h"

#include <elf.h>

#include <array>
#include <cstring>
#include <fstream>
#include <optional>

namespace gnomon::injector {
namespace {

template <typename T>
bool read_at(std::ifstream& file, std::uint64_t offset, T& into) {
  return static_cast<bool>(file.seekg(static_cast<std::streamoff>(offset))
                               .read(reinterpret_cast<char*>(&into), sizeof into));
}

// The loader the program names; none: static.
std::optional<std::string> interpreter(std::ifstream& file, const Elf64_Ehdr& header) {
  for (unsigned i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment{};
    if (!read_at(file, header.e_phoff + i * sizeof segment, segment)) return std::nullopt;
    if (segment.p_type != PT_INTERP) continue;
    std::array<char, 4096> path{};
    file.seekg(static_cast<std::streamoff>(segment.p_offset));
    file.read(path.data(), static_cast<std::streamsize>(
                               std::min<std::uint64_t>(segment.p_filesz, path.size() - 1)));
    return std::string(path.data());
  }
  return std::nullopt;
}

}  // namespace

Result<void> check_program(const std::string& executable) {
  std::ifstream file(executable, std::ios::binary);
  Elf64_Ehdr header{};
  if (!file || !read_at(file, 0, header))
    return fault("cannot read " + executable, "see whether it exists and may be read");
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0)
    return fault(executable + " is not a program that the kernel runs itself",
                 "choose the interpreter that runs it with `target create`");
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_machine != EM_X86_64)
    return fault(executable + " cannot be recorded: it is not a 64-bit x86 program",
                 "build it for x86-64");
  const auto loader = interpreter(file, header);
  if (!loader)
    return fault(executable +
                     " cannot be recorded: it is linked statically, so no library can be " +
                     "preloaded",
                 "link it without -static");
  if (loader->find("ld-musl") != std::string::npos)
    return fault(executable + " cannot be recorded: it uses musl, the collector needs glibc",
                 "build it against glibc");
  return {};
}

}  // namespace gnomon::injector
