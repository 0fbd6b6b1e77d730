// All that is read of an ELF file. Any thread.
#include "tests/fuzz/object.h"

#include "injector/files/preflight.h"
#include "reader/lines/object_lines.h"
#include "reader/symbols/display_name.h"
#include "reader/symbols/elf/symbol_index.h"

namespace gnomon::fuzz {

namespace {

void read_lines(const std::string& path, const reader::SymbolIndex& index, std::uint32_t symbols) {
  auto module = reader::Module::open({path}, {}, {});
  if (!module) return;
  reader::SourceFiles files;
  auto lines = reader::ObjectLines::open(std::move(*module), path, files, {});
  for (std::uint32_t i = 0; lines && i < symbols; ++i) {
    const reader::Symbol& symbol = index.symbol(i);
    if (const reader::UnitLines* unit = lines->unit_at(symbol.begin, {}))
      unit->places_in(lines->in_dwarf(symbol.begin), lines->in_dwarf(symbol.end), true);
  }
}

}  // namespace

void read_object(const std::string& path) {
  constexpr std::uint32_t kShown = 1000;
  const auto index = reader::SymbolIndex::load({path}, {});
  if (index) {
    const auto shown = static_cast<std::uint32_t>(std::min<std::size_t>(index->size(), kShown));
    for (std::uint32_t i = 0; i < shown; ++i)
      reader::display_name(index->symbol(i).name.c_str(), reader::Names::of_ada);
    read_lines(path, *index, shown);
  }
  injector::check_program(path);
}

}  // namespace gnomon::fuzz
