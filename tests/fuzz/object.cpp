// All that is read of an ELF file. Any thread.
#include "tests/fuzz/object.h"

#include "injector/preflight.h"
#include "reader/symbols/display_name.h"
#include "reader/symbols/symbol_index.h"

namespace gnomon::fuzz {

void read_object(const std::string& path) {
  constexpr std::uint32_t kShown = 1000;
  const auto index = reader::SymbolIndex::load({path}, {});
  for (std::uint32_t i = 0; index && i < std::min<std::size_t>(index->size(), kShown); ++i)
    reader::display_name(index->symbol(i).name.c_str(), reader::Names::of_ada);
  injector::check_program(path);
}

}  // namespace gnomon::fuzz
