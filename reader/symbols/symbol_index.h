// Functions of one load object's file, sorted by address. Any thread, one at a time.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "reader/base/interrupt.h"
#include "reader/base/result.h"

namespace gnomon::reader {

struct Symbol {
  std::uint64_t begin = 0, end = 0;  // addresses of the file
  std::string name;                  // as the file has it
};

class SymbolIndex {
 public:
  // Reads .symtab of the file or of its separate debug file, else .dynsym. build_id: hexadecimal;
  // a file with another one is refused. Empty: not checked.
  static Result<SymbolIndex> load(const std::string& path, const std::string& build_id,
                                  const Interrupt& interrupt = {});
  // Symbols in any order, overlapping allowed; starts: function_starts().
  explicit SymbolIndex(std::vector<Symbol> symbols, std::vector<std::uint64_t> starts = {});

  // The symbol that `address` lies in, or where the function without a symbol begins that it lies
  // in: at the nearest known start below, but above the last symbol's end.
  struct Place {
    bool in_symbol;
    std::uint32_t number;     // of the symbol
    std::uint64_t gap_begin;  // of the function without a symbol
  };
  Place find(std::uint64_t address) const;
  const Symbol& symbol(std::uint32_t number) const { return symbols_[number]; }
  std::size_t size() const { return symbols_.size(); }

 private:
  std::vector<Symbol> symbols_;        // sorted, apart from each other
  std::vector<std::uint64_t> starts_;  // sorted
};

}  // namespace gnomon::reader
