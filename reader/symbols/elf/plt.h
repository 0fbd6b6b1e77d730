// The stubs that calls of other objects go through. Any thread, one at a time.
#pragma once
#include <libelf.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "reader/symbols/elf/elf_file.h"
#include "reader/symbols/elf/symbol_index.h"

namespace gnomon::reader {

// Adds symbols "memcmp@plt" for the stubs of an x86-64 file, "@plt" for what is in their sections
// besides (the lazy binder's part) and for other machines. Returns false if there is no room for
// all their names.
bool add_plt_symbols(Elf* elf, NameRoom& room, std::vector<Symbol>& symbols);

// One section of stubs at `address`; slots: what fills which place of the global offset table. Ends
// where there is no room for a name.
std::vector<Symbol> plt_symbols(const unsigned char* code, std::size_t bytes, std::uint64_t address,
                                const std::map<std::uint64_t, const char*>& slots, NameRoom& room);

// What a slot of the global offset table leads to: a function of another object, by its name, or
// an address of the file.
struct SlotTarget {
  std::string name;
  std::uint64_t address = 0;
};
// By the slots' addresses.
std::map<std::uint64_t, SlotTarget> slot_targets(Elf* elf, NameRoom& room);

}  // namespace gnomon::reader
