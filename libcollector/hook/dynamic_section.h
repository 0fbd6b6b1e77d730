// A load object's dynamic section: its relocations and its symbols. Valid while the object stays
// loaded; any context.
#pragma once
#include <span>

#include "libcollector/objects/load_object.h"

namespace gnomon::collector {

struct DynamicSection {
  // Relocations that name a symbol: those of data and of calls without a PLT; those of the PLT.
  std::span<const ElfW(Rela)> data, plt;
  std::span<const ElfW(Sym)> symbols;
  std::span<const char> strings;              // names of symbols
  std::span<const ElfW(Half)> versions = {};  // by symbol
};

// The object is relocated already. A table that it does not have, or that does not lie inside it,
// is empty. Source: gABI, "Dynamic Section"; DT_GNU_HASH as glibc and binutils use it.
DynamicSection dynamic_section_of(const LoadObject& object);

}  // namespace gnomon::collector
