// The symbols of a load object, read from its file or, the vdso's, from memory. Any thread, one at
// a time.
#include <fmt/format.h>
#include <gelf.h>
#include <sys/auxv.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstring>
#include <memory>

#include "reader/symbols/elf/elf_file.h"
#include "reader/symbols/elf/function_starts.h"
#include "reader/symbols/elf/module.h"
#include "reader/symbols/elf/plt.h"
#include "reader/symbols/elf/symbol_index.h"

namespace gnomon::reader {
namespace {

struct CodeRange {
  std::uint64_t begin, end;
};

// Sections of code, sorted; of a file without sections its segments of code.
std::vector<CodeRange> code_of(Elf* elf) {
  std::vector<CodeRange> code;
  for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf, section));)
    if (GElf_Shdr header; gelf_getshdr(section, &header) && header.sh_flags & SHF_EXECINSTR)
      code.push_back({header.sh_addr, header.sh_addr + header.sh_size});
  std::size_t segments = 0;
  if (code.empty() && elf_getphdrnum(elf, &segments) == 0)
    for (std::size_t i = 0; i < segments; ++i)
      if (GElf_Phdr header; gelf_getphdr(elf, static_cast<int>(i), &header) &&
                            header.p_type == PT_LOAD && header.p_flags & PF_X)
        code.push_back({header.p_vaddr, header.p_vaddr + header.p_memsz});
  std::sort(code.begin(), code.end(),
            [](const CodeRange& a, const CodeRange& b) { return a.begin < b.begin; });
  return code;
}

bool contains(const std::vector<CodeRange>& code, std::uint64_t address) {
  const auto after =
      std::upper_bound(code.begin(), code.end(), address,
                       [](std::uint64_t a, const CodeRange& range) { return a < range.begin; });
  return after != code.begin() && address < (after - 1)->end;
}

// Labels that assemblers, compilers and linkers write for themselves.
bool is_made_up(std::string_view name) {
  return name.starts_with('.') || name.starts_with('$') || name.starts_with("__start_") ||
         name.starts_with("__stop_") || name == "etext" || name == "_etext" || name == "__etext";
}

// The symbols of a file that name code.
class Gathering {
 public:
  Gathering(const std::vector<CodeRange>& code, std::uint64_t bytes) : room(bytes), code_(code) {}

  // begin: address of the file. Returns false if there are too many names.
  bool add(const GElf_Sym& symbol, std::uint64_t begin, const char* name) {
    const auto type = GELF_ST_TYPE(symbol.st_info);
    const bool is_local = GELF_ST_BIND(symbol.st_info) == STB_LOCAL;
    if (!name || !*name || symbol.st_shndx == SHN_UNDEF || symbol.st_size > ~begin) return true;
    // A module's local symbols follow its name.
    if (type == STT_FILE) return begin_module(name);
    const bool is_function = type == STT_FUNC || type == STT_GNU_IFUNC;
    const bool is_label = type == STT_NOTYPE && symbol.st_shndx != SHN_ABS && !is_made_up(name) &&
                          contains(code_, begin);
    if (!is_function && !is_label) return true;
    if (!room.take(name)) return false;
    symbols.push_back({begin, begin + symbol.st_size, name,
                       is_function ? SymbolKind::function : SymbolKind::label,
                       is_local ? static_cast<std::uint32_t>(modules.size() - 1) : 0});
    return true;
  }

  NameRoom room;
  std::vector<Symbol> symbols;
  std::vector<std::string> modules{""};

 private:
  bool begin_module(const char* name) {
    if (modules.back() == name) return true;
    if (!room.take(name)) return false;
    modules.emplace_back(name);
    return true;
  }

  const std::vector<CodeRange>& code_;
};

// Adds the symbols of the file, and those of its stubs. Returns true if neither it nor a debug file
// has the names of static functions.
Result<bool> add_symbols(const Module& file, const Interrupt& interrupt, Gathering& found) {
  constexpr int kAsk = 4096, kMost = 1 << 24;
  const int count = dwfl_module_getsymtab(file.get());
  if (count > kMost) return fault(fmt::format("it has {} symbols, as no program has", count));
  for (int i = 1; i < count; ++i) {
    if (i % kAsk == 0 && interrupt.asked()) return interrupted();
    GElf_Sym symbol;
    GElf_Addr address = 0;
    GElf_Word section = SHN_UNDEF;
    const char* name =
        dwfl_module_getsym_info(file.get(), i, &symbol, &address, &section, nullptr, nullptr);
    if (section != SHN_UNDEF && !found.add(symbol, address - file.bias(), name))
      return fault("its names take more room than a file of its size has");
  }
  if (!add_plt_symbols(file.elf(), found.room, found.symbols))
    return fault("the names of its stubs take more room than a file of its size has");
  return !file.debug_file() && !has_symbol_table(file.elf());
}

// Bytes on the disk of the file and of its debug file, in which the names are.
std::uint64_t bytes_of(const Module& file) {
  dwfl_module_getsymtab(file.get());
  const char* debug_file = file.debug_file();
  return file.bytes_on_disk() + (debug_file ? bytes_on_disk(debug_file) : 0);
}

Bounds bounds_of(Elf* elf, const std::vector<CodeRange>& code) {
  Bounds bounds{function_starts(elf), {}};
  for (const CodeRange& range : code) bounds.ends.push_back(range.end);
  std::sort(bounds.ends.begin(), bounds.ends.end());
  return bounds;
}

bool was_written_since(const std::string& path, const FileIdentity& identity) {
  struct stat info {};
  if (identity.modified == 0 || stat(path.c_str(), &info) != 0) return false;
  const auto modified = static_cast<std::uint64_t>(info.st_mtim.tv_sec) * 1'000'000'000 +
                        static_cast<std::uint64_t>(info.st_mtim.tv_nsec);
  return modified != identity.modified ||
         static_cast<std::uint64_t>(info.st_size) != identity.bytes;
}

// Bytes of an ELF image in memory whose section headers stand at its end, as the vdso's do.
std::size_t image_bytes(const Elf64_Ehdr& header) {
  return header.e_shoff + std::size_t{header.e_shnum} * header.e_shentsize;
}

}  // namespace

Result<SymbolIndex> SymbolIndex::load(const ObjectSource& source, const FileIdentity& identity,
                                      const Interrupt& interrupt) {
  const auto file = Module::open(source, identity, interrupt);
  if (!file) return tl::unexpected(file.error());
  const std::vector<CodeRange> code = code_of(file->elf());
  Gathering found(code, bytes_of(*file));
  auto added = add_symbols(*file, interrupt, found);
  if (!added && interrupt.asked()) return interrupted();
  if (!added) return fault(source.path + " is damaged: " + added.error().what);
  SymbolIndex index(std::move(found.symbols), bounds_of(file->elf(), code),
                    std::move(found.modules));
  index.was_touched_ = was_written_since(source.path, identity);
  index.is_stripped_ = *added;
  return index;
}

Result<SymbolIndex> SymbolIndex::load_vdso(const std::string& build_id) {
  const auto other = [] {
    return fault("[vdso]: the recorded system's is not this one's",
                 "read the experiment where it was recorded");
  };
  auto* image = reinterpret_cast<char*>(getauxval(AT_SYSINFO_EHDR));
  if (!image || elf_version(EV_CURRENT) == EV_NONE) return other();
  Elf64_Ehdr header;
  std::memcpy(&header, image, sizeof header);
  const ElfHandle elf(elf_memory(image, image_bytes(header)));
  if (!elf || (!build_id.empty() && build_id_of(elf.get()) != build_id)) return other();
  const std::vector<CodeRange> code = code_of(elf.get());
  Gathering found(code, 0);
  for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf.get(), section));) {
    GElf_Shdr of_section;
    if (!gelf_getshdr(section, &of_section) || of_section.sh_type != SHT_DYNSYM ||
        of_section.sh_entsize == 0)
      continue;
    Elf_Data* data = elf_getdata(section, nullptr);
    const auto count = static_cast<int>(of_section.sh_size / of_section.sh_entsize);
    for (int i = 1; data && i < count; ++i)
      if (GElf_Sym symbol; gelf_getsym(data, i, &symbol))
        found.add(symbol, symbol.st_value,
                  elf_strptr(elf.get(), of_section.sh_link, symbol.st_name));
  }
  return SymbolIndex(std::move(found.symbols), bounds_of(elf.get(), code));
}

}  // namespace gnomon::reader
