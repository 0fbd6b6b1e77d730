// Line numbers of one load object, read a compilation unit at a time when an address in it is asked
// for. Any thread, one at a time.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "reader/base/interrupt.h"
#include "reader/base/result.h"
#include "reader/lines/source_files.h"
#include "reader/lines/split_units.h"
#include "reader/lines/unit_lines.h"
#include "reader/symbols/elf/module.h"

namespace gnomon::reader {

class ObjectLines {
 public:
  // name: of the load object, for the user. files: must outlive the object. Fault: the module has
  // no line numbers.
  static Result<ObjectLines> open(Module module, const std::string& name, SourceFiles& files,
                                  const Interrupt& interrupt);

  // What knows the lines around an address of the file; null: nothing does.
  const UnitLines* unit_at(std::uint64_t address, const Interrupt& interrupt);
  // what(unit): of each that was asked for.
  template <typename What>
  void each_unit(What what) const {
    for (const auto& [offset, unit] : units_) what(unit);
  }
  // Why functions are missing that were inlined in the units that were asked for, a sentence;
  // empty: none are.
  const std::string& without_inlines() const { return without_inlines_; }
  // What the object's addresses are in the DWARF's.
  std::uint64_t in_dwarf(std::uint64_t address) const { return address + shift_; }

 private:
  ObjectLines(Module module, SourceFiles& files) : module_(std::move(module)), files_(&files) {}

  // A piece of a compilation unit's code.
  struct Piece {
    std::uint64_t begin, end;
    Dwarf_Off unit;  // offset of its DIE
  };
  const Piece* piece_at(std::uint64_t address) const;
  void read_index();
  void read_all_units(const Interrupt& interrupt);
  const UnitLines* add_unit(Dwarf_Off offset, const Interrupt& interrupt);

  Module module_;
  SourceFiles* files_;
  Dwarf* dwarf_ = nullptr;
  std::uint64_t shift_ = 0;
  std::vector<Piece> pieces_;  // sorted
  bool is_complete_ = false;   // pieces_ has every unit's
  std::map<Dwarf_Off, UnitLines> units_;
  SplitUnits split_;
  std::string without_inlines_;
};

}  // namespace gnomon::reader
