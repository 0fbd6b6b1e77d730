// What a load object tells the loader: its relocations and its symbols. While it stays loaded; any
// context.
#pragma once
#include <span>

#include "libcollector/objects/load_object.h"

namespace gnomon::collector {

struct DynamicSection {
  // Those that name a symbol: of data and calls without a PLT, and of the PLT.
  std::span<const ElfW(Rela)> data, plt;
  std::span<const ElfW(Sym)> symbols;
};

// Of an object that the loader is done with. What it does not have, or does not lie in it, is
// empty. Source: gABI, "Dynamic Section"; DT_GNU_HASH as glibc's and binutils' authors use it.
DynamicSection dynamic_section_of(const LoadObject& object);

}  // namespace gnomon::collector
