// A small ELF file with the symbols of functions and nothing else, to be a load object of an
// experiment that a test writes.
#pragma once
#include <elf.h>

#include <cstdint>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

namespace gnomon::test {

struct FixtureFunction {
  std::string name;
  std::uint64_t address, size;
};

// Returns false if the file could not be written.
inline bool write_fixture(const std::string& path, const std::vector<FixtureFunction>& functions) {
  constexpr Elf64_Half kText = 1, kSymbols = 2, kNames = 3, kSections = 4;
  std::string names(1, '\0');
  std::vector<Elf64_Sym> symbols(1);
  for (const FixtureFunction& function : functions) {
    Elf64_Sym symbol{};
    symbol.st_name = static_cast<Elf64_Word>(names.size());
    symbol.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC);
    symbol.st_shndx = kText;
    symbol.st_value = function.address;
    symbol.st_size = function.size;
    symbols.push_back(symbol);
    names += function.name + '\0';
  }
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_ident[EI_VERSION] = EV_CURRENT;
  header.e_type = ET_DYN;
  header.e_machine = EM_X86_64;
  header.e_version = EV_CURRENT;
  header.e_ehsize = sizeof header;
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shnum = kSections;
  header.e_shstrndx = kNames;
  const std::uint64_t symbol_bytes = symbols.size() * sizeof(Elf64_Sym);
  const std::uint64_t names_at = sizeof header + symbol_bytes;
  header.e_shoff = (names_at + names.size() + 7) / 8 * 8;
  names.resize(header.e_shoff - names_at);
  Elf64_Shdr sections[kSections]{};
  sections[kText].sh_type = SHT_NOBITS;
  sections[kText].sh_flags = SHF_ALLOC | SHF_EXECINSTR;
  sections[kText].sh_addr = 0x1000;
  sections[kText].sh_size = 0x10000;
  sections[kSymbols].sh_type = SHT_SYMTAB;
  sections[kSymbols].sh_offset = sizeof header;
  sections[kSymbols].sh_size = symbol_bytes;
  sections[kSymbols].sh_link = kNames;
  sections[kSymbols].sh_info = 1;
  sections[kSymbols].sh_entsize = sizeof(Elf64_Sym);
  sections[kNames].sh_type = SHT_STRTAB;
  sections[kNames].sh_offset = names_at;
  sections[kNames].sh_size = names.size();
  std::ofstream file(path, std::ios::binary);
  const auto put = [&](const void* bytes, std::uint64_t size) {
    file.write(static_cast<const char*>(bytes), static_cast<std::streamsize>(size));
  };
  put(&header, sizeof header);
  put(symbols.data(), symbol_bytes);
  put(names.data(), names.size());
  put(sections, sizeof sections);
  return static_cast<bool>(file);
}

}  // namespace gnomon::test
