// The stubs that calls of other objects go through. Any thread, one at a time.
#pragma once
#include <libelf.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "reader/symbols/symbol_index.h"

namespace gnomon::reader {

// Symbols "memcmp@plt" for the stubs of an x86-64 file, "@plt" for what is in their sections
// besides (the lazy binder's part) and for other machines.
std::vector<Symbol> plt_symbols(Elf* elf);

// One section of stubs at `address`; slots: what fills which place of the global offset table.
std::vector<Symbol> plt_symbols(const unsigned char* code, std::size_t bytes, std::uint64_t address,
                                const std::map<std::uint64_t, std::string>& slots);

}  // namespace gnomon::reader
