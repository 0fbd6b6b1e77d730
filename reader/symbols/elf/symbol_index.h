// Functions of one load object's file, sorted by address. Any thread, one at a time.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "reader/base/interrupt.h"
#include "reader/base/result.h"
#include "reader/experiment/experiment.h"

namespace gnomon::reader {

// function: of type FUNC or IFUNC. label: without a type, as assemblers write one.
enum class SymbolKind : std::uint8_t { function, label };

struct Symbol {
  std::uint64_t begin = 0, end = 0;  // addresses of the file; equal: its size is not known
  std::string name;                  // as the file has it
  SymbolKind kind = SymbolKind::function;
  std::uint32_t module = 0;  // of a static function: among the index's modules; 0: none
  std::vector<std::string> aliases = {};  // other names of the same place
};

// What bounds symbols without a size, sorted: where functions begin, and where sections end.
struct Bounds {
  std::vector<std::uint64_t> starts, ends;  // starts: function_starts()
};

// Where a load object's file is found.
struct ObjectSource {
  std::string path;             // where the file is now
  std::string known_as = path;  // in the recorded process; a debug file may lie beside that
  std::string root = {};        // of that process, as /proc/PID/root; empty: ours
  std::string debug_file = {};  // that the user has named; empty: none
};

class SymbolIndex {
 public:
  // Reads .symtab of the file or of its separate debug file, else .dynsym. A file with another
  // identity is refused; what is not known of that is not compared.
  static Result<SymbolIndex> load(const ObjectSource& source, const FileIdentity& identity,
                                  const Interrupt& interrupt = {});
  // Reads the vdso of this process, if it has that build-id.
  static Result<SymbolIndex> load_vdso(const std::string& build_id);
  // Symbols in any order, overlapping allowed: an address is in the innermost. A symbol without a
  // size reaches to the next one, start or end, and is no symbol inside one with a size.
  // modules: names of source files, the first empty.
  explicit SymbolIndex(std::vector<Symbol> symbols, Bounds bounds = {},
                       std::vector<std::string> modules = {""});

  // The symbol that `address` lies in, or where the function without a symbol begins that it lies
  // in: at the nearest known start below, but above the last symbol's end.
  struct Place {
    bool in_symbol;
    std::uint32_t number;     // of the symbol
    std::uint64_t gap_begin;  // of the function without a symbol
  };
  Place find(std::uint64_t address) const;
  // Where the code ends that an address in a gap belongs to: at the next symbol, known start or
  // section's end.
  std::uint64_t gap_end(std::uint64_t address) const;
  const Symbol& symbol(std::uint32_t number) const { return symbols_[number]; }
  std::size_t size() const { return symbols_.size(); }
  // The only function of that name, also as an alias; of several the only static one from that
  // source file. Null: there is none, or several.
  const Symbol* named(const std::string& name, const std::string& module = {}) const;
  // The source file of a static function, as its symbol table has it; empty: not known.
  const std::string& module(const Symbol& symbol) const { return modules_[symbol.module]; }
  // Returns true if the file has no build-id and was changed since it was recorded, though its
  // layout is the same.
  bool was_touched() const { return was_touched_; }
  // Returns true if only exported functions have names, and no debug file was found.
  bool is_stripped() const { return is_stripped_; }
  // Returns true if the file has Ada's start, so that its names are encoded as GNAT does.
  bool is_ada() const { return is_ada_; }

 private:
  // What an address from begin on is in, up to end.
  struct Range {
    std::uint64_t begin, end;
    std::uint32_t symbol;
  };
  void make_ranges();

  std::vector<std::string> modules_;
  std::vector<Symbol> symbols_;               // sorted
  std::vector<Range> ranges_;                 // sorted, apart from each other
  std::vector<std::uint64_t> starts_, ends_;  // sorted
  // Numbers of symbols by their names. Filled when first asked for.
  mutable std::unordered_multimap<std::string_view, std::uint32_t> by_name_;
  bool is_ada_ = false;
  bool was_touched_ = false;
  bool is_stripped_ = false;
};

}  // namespace gnomon::reader
