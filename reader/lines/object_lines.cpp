// Line numbers of one load object, read a compilation unit at a time. Any thread, one at a time.
#include "reader/lines/object_lines.h"

#include <dwarf.h>

#include <algorithm>
#include <set>

#include "reader/symbols/elf/elf_file.h"

namespace gnomon::reader {

namespace {

bool is_compressed_by_zstd(const Module& module) {
  if (has_zstd_sections(module.elf())) return true;
  const char* const path = module.debug_file();
  const auto file = path ? open_elf(path) : Result<File>(fault("there is none"));
  if (!file) return false;
  const ElfHandle elf(elf_begin(file->descriptor(), ELF_C_READ, nullptr));
  return elf && has_zstd_sections(elf.get());
}

}  // namespace

Result<ObjectLines> ObjectLines::open(Module module, const std::string& name, SourceFiles& files,
                                      const Interrupt& interrupt) {
  ObjectLines lines(std::move(module), files);
  Dwarf_Addr bias = 0;
  lines.dwarf_ = dwfl_module_getdwarf(lines.module_.get(), &bias);
  lines.module_.outlive_interrupt();
  if (interrupt.asked()) return interrupted();
  if (!lines.dwarf_ && is_compressed_by_zstd(lines.module_))
    return fault(name + " has debug information that zstd compressed, which is not read",
                 "`objcopy --decompress-debug-sections` rewrites it");
  if (!lines.dwarf_)
    return fault(name + " has no debug information",
                 "compile it with -g, or install its debug package");
  lines.shift_ = lines.module_.bias() - bias;
  lines.read_index();
  std::vector<std::string> paths = {name};
  if (const char* const path = lines.module_.debug_file()) paths.emplace_back(path);
  lines.split_ = SplitUnits(std::move(paths));
  return lines;
}

// A piece that begins at the address or before, and is the last such one.
const ObjectLines::Piece* ObjectLines::piece_at(std::uint64_t address) const {
  const auto after =
      std::upper_bound(pieces_.begin(), pieces_.end(), address,
                       [](std::uint64_t a, const Piece& piece) { return a < piece.begin; });
  return after != pieces_.begin() && address < (after - 1)->end ? &*(after - 1) : nullptr;
}

// .debug_aranges, which compilers may leave out.
void ObjectLines::read_index() {
  Dwarf_Aranges* ranges = nullptr;
  std::size_t count = 0;
  if (dwarf_getaranges(dwarf_, &ranges, &count) != 0) return;
  for (std::size_t i = 0; i < count; ++i) {
    Dwarf_Addr begin = 0;
    Dwarf_Word length = 0;
    Dwarf_Off unit = 0;
    Dwarf_Arange* const range = dwarf_onearange(ranges, i);
    if (range && dwarf_getarangeinfo(range, &begin, &length, &unit) == 0 && length <= ~begin)
      pieces_.push_back({begin, begin + length, unit});
  }
  std::sort(pieces_.begin(), pieces_.end(),
            [](const Piece& a, const Piece& b) { return a.begin < b.begin; });
}

void ObjectLines::read_all_units(const Interrupt& interrupt) {
  is_complete_ = true;
  std::set<Dwarf_Off> known;
  for (const Piece& piece : pieces_) known.insert(piece.unit);
  Dwarf_CU* unit = nullptr;
  Dwarf_Die die;
  std::uint8_t kind = 0;
  for (std::uint64_t i = 0; !interrupt.asked(i); ++i) {
    if (dwarf_get_units(dwarf_, unit, &unit, nullptr, &kind, &die, nullptr) != 0) break;
    const Dwarf_Off offset = dwarf_dieoffset(&die);
    if ((kind != DW_UT_compile && kind != DW_UT_skeleton) || known.contains(offset)) continue;
    Dwarf_Addr base = 0, begin = 0, end = 0;
    std::ptrdiff_t at = 0;
    while ((at = dwarf_ranges(&die, at, &base, &begin, &end)) > 0)
      if (begin < end) pieces_.push_back({begin, end, offset});
  }
  std::sort(pieces_.begin(), pieces_.end(),
            [](const Piece& a, const Piece& b) { return a.begin < b.begin; });
}

const UnitLines* ObjectLines::unit_at(std::uint64_t address, const Interrupt& interrupt) {
  const std::uint64_t place = in_dwarf(address);
  const Piece* piece = piece_at(place);
  if (!piece && !is_complete_) {
    read_all_units(interrupt);
    piece = piece_at(place);
  }
  if (!piece) return nullptr;
  if (const auto known = units_.find(piece->unit); known != units_.end()) return &known->second;
  return add_unit(piece->unit, interrupt);
}

const UnitLines* ObjectLines::add_unit(Dwarf_Off offset, const Interrupt& interrupt) {
  Dwarf_Die unit;
  if (!dwarf_offdie(dwarf_, offset, &unit)) return nullptr;
  const auto number_file = [this](const char* name) { return files_->number(name); };
  const auto add = [&](Dwarf_Die functions) {
    units_.try_emplace(offset, unit, functions, number_file, interrupt);
  };
  std::uint8_t kind = 0;
  const bool is_split =
      dwarf_cu_info(unit.cu, nullptr, &kind, nullptr, nullptr, nullptr, nullptr, nullptr) == 0 &&
      kind == DW_UT_skeleton;
  const auto found = is_split ? split_.read(unit, add) : Result<void>();
  if (!found && without_inlines_.empty()) without_inlines_ = sentence(found.error());
  if (!is_split || !found) add(unit);
  return &units_.at(offset);
}

}  // namespace gnomon::reader
