// The symbols of a load object, read from its file or, the vdso's, from memory. Any thread, one at
// a time.
#include <elfutils/libdwfl.h>
#include <fmt/format.h>
#include <gelf.h>
#include <sys/auxv.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstring>
#include <memory>

#include "libcollector/format/layout.h"
#include "reader/symbols/function_starts.h"
#include "reader/symbols/plt.h"
#include "reader/symbols/symbol_index.h"

namespace gnomon::reader {
namespace {

struct DwflEnd {
  void operator()(Dwfl* dwfl) const { dwfl_end(dwfl); }
};
struct ElfEnd {
  void operator()(Elf* elf) const { elf_end(elf); }
};

// By build-id only: the standard search would ask a debuginfod server, which nobody asked for.
char* debuginfo_path = nullptr;
const Dwfl_Callbacks kCallbacks{nullptr, dwfl_build_id_find_debuginfo, dwfl_offline_section_address,
                                &debuginfo_path};

std::string hex(const unsigned char* bytes, std::size_t count) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) text += fmt::format("{:02x}", bytes[i]);
  return text;
}

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

// Adds the symbol if it names code. begin: address of the file.
void add_symbol(const GElf_Sym& symbol, std::uint64_t begin, const char* name,
                const std::vector<CodeRange>& code, std::vector<Symbol>& symbols) {
  const auto type = GELF_ST_TYPE(symbol.st_info);
  const bool is_function = type == STT_FUNC || type == STT_GNU_IFUNC;
  if (!name || !*name || symbol.st_shndx == SHN_UNDEF || symbol.st_size > ~begin) return;
  if (is_function)
    symbols.push_back({begin, begin + symbol.st_size, name});
  else if (type == STT_NOTYPE && symbol.st_shndx != SHN_ABS && !is_made_up(name) &&
           contains(code, begin))
    symbols.push_back({begin, begin + symbol.st_size, name, SymbolKind::label});
}

// Returns false if interrupted.
bool add_symbols(Dwfl_Module* module, GElf_Addr bias, const std::vector<CodeRange>& code,
                 const Interrupt& interrupt, std::vector<Symbol>& symbols) {
  constexpr int kAsk = 4096;
  const int count = dwfl_module_getsymtab(module);
  for (int i = 1; i < count; ++i) {
    if (i % kAsk == 0 && interrupt.asked()) return false;
    GElf_Sym symbol;
    GElf_Addr address = 0;
    GElf_Word section = SHN_UNDEF;
    const char* name =
        dwfl_module_getsym_info(module, i, &symbol, &address, &section, nullptr, nullptr);
    if (section != SHN_UNDEF) add_symbol(symbol, address - bias, name, code, symbols);
  }
  return true;
}

Bounds bounds_of(Elf* elf, const std::vector<CodeRange>& code) {
  Bounds bounds{function_starts(elf), {}};
  for (const CodeRange& range : code) bounds.ends.push_back(range.end);
  std::sort(bounds.ends.begin(), bounds.ends.end());
  return bounds;
}

// format/layout.h.
std::uint64_t layout_of(Elf* elf) {
  std::size_t count = 0;
  GElf_Ehdr file;
  if (!gelf_getehdr(elf, &file) || elf_getphdrnum(elf, &count) != 0) return 0;
  const auto step = [&](std::uint64_t sum, std::uint64_t offset, std::uint64_t size) {
    Elf_Data* data = elf_getdata_rawchunk(elf, static_cast<std::int64_t>(offset), size, ELF_T_BYTE);
    return data ? format::layout_step(sum, data->d_buf, data->d_size) : sum;
  };
  std::uint64_t sum = step(0, file.e_phoff, count * file.e_phentsize);
  for (std::size_t i = 0; i < count; ++i)
    if (GElf_Phdr header;
        gelf_getphdr(elf, static_cast<int>(i), &header) && header.p_type == PT_GNU_EH_FRAME)
      sum = step(sum, header.p_offset, header.p_filesz);
  return sum;
}

bool was_written_since(const std::string& path, const FileIdentity& identity) {
  struct stat info {};
  if (identity.modified == 0 || stat(path.c_str(), &info) != 0) return false;
  const auto modified = static_cast<std::uint64_t>(info.st_mtim.tv_sec) * 1'000'000'000 +
                        static_cast<std::uint64_t>(info.st_mtim.tv_nsec);
  return modified != identity.modified ||
         static_cast<std::uint64_t>(info.st_size) != identity.bytes;
}

// The build-id in a section of notes; empty: there is none.
std::string build_id_in(Elf_Scn* section) {
  Elf_Data* data = elf_getdata(section, nullptr);
  if (!data) return "";
  GElf_Nhdr note;
  std::size_t name = 0, text = 0;
  for (std::size_t at = 0; (at = gelf_getnote(data, at, &note, &name, &text)) > 0;)
    if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == sizeof "GNU" &&
        std::memcmp(static_cast<const char*>(data->d_buf) + name, "GNU", sizeof "GNU") == 0)
      return hex(static_cast<const unsigned char*>(data->d_buf) + text, note.n_descsz);
  return "";
}

// Bytes of an ELF image in memory whose section headers stand at its end, as the vdso's do.
std::size_t image_bytes(const Elf64_Ehdr& header) {
  return header.e_shoff + std::size_t{header.e_shnum} * header.e_shentsize;
}

}  // namespace

Result<SymbolIndex> SymbolIndex::load(const std::string& path, const FileIdentity& identity,
                                      const Interrupt& interrupt) {
  const std::unique_ptr<Dwfl, DwflEnd> dwfl(dwfl_begin(&kCallbacks));
  if (!dwfl) return fault("elfutils cannot start", dwfl_errmsg(-1));
  Dwfl_Module* module = dwfl_report_offline(dwfl.get(), path.c_str(), path.c_str(), -1);
  if (!module) return fault(path + ": " + dwfl_errmsg(-1));
  dwfl_report_end(dwfl.get(), nullptr, nullptr);
  GElf_Addr bias = 0;
  Elf* elf = dwfl_module_getelf(module, &bias);
  if (!elf) return fault(path + ": " + dwfl_errmsg(-1));
  const unsigned char* id = nullptr;
  GElf_Addr where = 0;
  const int length = dwfl_module_build_id(module, &id, &where);
  const bool has_its_id =
      identity.build_id.empty() ||
      (length > 0 && hex(id, static_cast<std::size_t>(length)) == identity.build_id);
  if (!has_its_id || (identity.layout != 0 && layout_of(elf) != identity.layout))
    return fault(path + " has changed since it was recorded");
  const std::vector<CodeRange> code = code_of(elf);
  std::vector<Symbol> symbols;
  if (!add_symbols(module, bias, code, interrupt, symbols)) return interrupted();
  const std::vector<Symbol> stubs = plt_symbols(elf);
  symbols.insert(symbols.end(), stubs.begin(), stubs.end());
  SymbolIndex index(std::move(symbols), bounds_of(elf, code));
  index.was_touched_ = was_written_since(path, identity);
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
  const std::unique_ptr<Elf, ElfEnd> elf(elf_memory(image, image_bytes(header)));
  if (!elf) return other();
  std::string own_id;
  std::vector<Symbol> symbols;
  const std::vector<CodeRange> code = code_of(elf.get());
  for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf.get(), section));) {
    GElf_Shdr of_section;
    if (!gelf_getshdr(section, &of_section)) continue;
    if (of_section.sh_type == SHT_NOTE && own_id.empty()) own_id = build_id_in(section);
    if (of_section.sh_type != SHT_DYNSYM || of_section.sh_entsize == 0) continue;
    Elf_Data* data = elf_getdata(section, nullptr);
    const auto count = static_cast<int>(of_section.sh_size / of_section.sh_entsize);
    for (int i = 1; data && i < count; ++i)
      if (GElf_Sym symbol; gelf_getsym(data, i, &symbol))
        add_symbol(symbol, symbol.st_value,
                   elf_strptr(elf.get(), of_section.sh_link, symbol.st_name), code, symbols);
  }
  if (!build_id.empty() && own_id != build_id) return other();
  return SymbolIndex(std::move(symbols), bounds_of(elf.get(), code));
}

}  // namespace gnomon::reader
