// Functions of one load object's file, sorted by address. Any thread, one at a time.
#include "reader/symbols/symbol_index.h"

#include <elfutils/libdwfl.h>
#include <fmt/format.h>
#include <gelf.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "reader/symbols/function_starts.h"
#include "reader/symbols/plt.h"

namespace gnomon::reader {
namespace {

struct DwflEnd {
  void operator()(Dwfl* dwfl) const { dwfl_end(dwfl); }
};

// By build-id only: the standard search would ask a debuginfod server, which nobody asked for.
char* debuginfo_path = nullptr;
const Dwfl_Callbacks kCallbacks{nullptr, dwfl_build_id_find_debuginfo, dwfl_offline_section_address,
                                &debuginfo_path};

std::string hex(const unsigned char* bytes, int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += fmt::format("{:02x}", bytes[i]);
  return text;
}

bool is_function(const GElf_Sym& symbol) {
  const auto type = GELF_ST_TYPE(symbol.st_info);
  return type == STT_FUNC || type == STT_GNU_IFUNC;
}

// Of several names for one place the plainest: fewest leading underscores, then shortest.
bool plainer(const std::string& a, const std::string& b) {
  const auto key = [](const std::string& s) {
    return std::pair(std::min(s.find_first_not_of('_'), s.size()), s.size());
  };
  return std::pair(key(a), a) < std::pair(key(b), b);
}

// False: interrupted.
bool add_functions(Dwfl_Module* module, GElf_Addr bias, const Interrupt& interrupt,
                   std::vector<Symbol>& symbols) {
  constexpr int kAsk = 4096;
  const int count = dwfl_module_getsymtab(module);
  for (int i = 1; i < count; ++i) {
    if (i % kAsk == 0 && interrupt.asked()) return false;
    GElf_Sym symbol;
    GElf_Addr address = 0;
    GElf_Word section = SHN_UNDEF;
    const char* name =
        dwfl_module_getsym_info(module, i, &symbol, &address, &section, nullptr, nullptr);
    if (!name || !*name || section == SHN_UNDEF || !is_function(symbol)) continue;
    const std::uint64_t begin = address - bias;
    symbols.push_back({begin, begin + symbol.st_size, name});
  }
  return true;
}

}  // namespace

SymbolIndex::SymbolIndex(std::vector<Symbol> symbols, std::vector<std::uint64_t> starts)
    : starts_(std::move(starts)) {
  std::sort(symbols.begin(), symbols.end(), [](const Symbol& a, const Symbol& b) {
    if (a.begin != b.begin) return a.begin < b.begin;
    return plainer(a.name, b.name);
  });
  for (Symbol& symbol : symbols) {
    if (!symbols_.empty()) {
      Symbol& last = symbols_.back();
      if (last.begin == symbol.begin) {  // an alias; the sizes may differ
        last.end = std::max(last.end, symbol.end);
        continue;
      }
      // Assembly without a size reaches to the next symbol; one that overlaps the next ends there.
      if (last.end == last.begin || last.end > symbol.begin) last.end = symbol.begin;
    }
    symbols_.push_back(std::move(symbol));
  }
  if (!symbols_.empty() && symbols_.back().end == symbols_.back().begin) ++symbols_.back().end;
}

SymbolIndex::Place SymbolIndex::find(std::uint64_t address) const {
  const auto after = std::upper_bound(symbols_.begin(), symbols_.end(), address,
                                      [](std::uint64_t a, const Symbol& s) { return a < s.begin; });
  std::uint64_t gap_begin = 0;
  if (after != symbols_.begin()) {
    const auto at = after - 1;
    if (address < at->end) return {true, static_cast<std::uint32_t>(at - symbols_.begin()), 0};
    gap_begin = at->end;
  }
  const auto start = std::upper_bound(starts_.begin(), starts_.end(), address);
  if (start != starts_.begin()) gap_begin = std::max(gap_begin, *(start - 1));
  return {false, 0, gap_begin};
}

Result<SymbolIndex> SymbolIndex::load(const std::string& path, const std::string& build_id,
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
  if (!build_id.empty() && (length <= 0 || hex(id, length) != build_id))
    return fault(path + " has changed since it was recorded");
  std::vector<Symbol> symbols;
  if (!add_functions(module, bias, interrupt, symbols)) return interrupted();
  const std::vector<Symbol> stubs = plt_symbols(elf);
  symbols.insert(symbols.end(), stubs.begin(), stubs.end());
  return SymbolIndex(std::move(symbols), function_starts(elf));
}

}  // namespace gnomon::reader
