// Line numbers of one compilation unit, and the calls that the compiler inlined there. Any thread,
// one at a time.
#pragma once
#include <elfutils/libdw.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "reader/base/interrupt.h"
#include "reader/lines/source_place.h"

namespace gnomon::reader {

// Returns the id of a file; the same for the same name.
using NumberFile = std::function<SourceFileId(const char*)>;

// A function that was inlined.
struct InlinedFunction {
  std::string symbol;    // its name in symbol tables, where it would have one
  SourcePlace declared;  // where it begins
};

// A call whose callee's instructions stand in the caller.
struct InlinedCall {
  static constexpr std::uint32_t kNone = ~0u;
  SourcePlace at;               // of the call
  std::uint32_t callee;         // number of the function
  std::uint32_t outer = kNone;  // the inlined call that this one stands in
};

// Where a function is defined: from the line of its declaration on, up to the line before the next
// function of the file.
struct DefinedLines {
  SourceFileId file = SourceFileId::none;
  std::uint32_t begin = 0, end = 0;  // both included
};

class UnitLines {
 public:
  // unit: the DIE of a compilation unit, with its lines. functions: the DIE with its functions,
  // which is the same, or stands in another file (split DWARF). Damaged lines are left out.
  UnitLines(Dwarf_Die unit, Dwarf_Die functions, const NumberFile& number_file,
            const Interrupt& interrupt);

  // Of the compilation unit: the path of its source, as the compiler was given it.
  const std::string& name() const { return name_; }

  // Of the instruction at an address of the DWARF: of the line table, which knows lines of inlined
  // functions.
  SourcePlace innermost(std::uint64_t address) const;
  // Of the innermost inlined call that the instruction belongs to; kNone: it belongs to none.
  std::uint32_t call_at(std::uint64_t address) const;
  const InlinedCall& call(std::uint32_t number) const { return calls_[number]; }
  const InlinedFunction& function(std::uint32_t number) const { return functions_[number]; }
  // Of the function itself: where the outermost inlined call is made that the instruction belongs
  // to, else `innermost`.
  SourcePlace outermost(std::uint64_t address) const;

  // Of the function that the instruction belongs to; its file is `none` if that is not known.
  DefinedLines defined_at(std::uint64_t address) const;

  // Every line with instructions in [begin, end), each once and in order: what was inlined there
  // counts for the line of the outermost call; with_inlined: for its own line and for those of all
  // its calls.
  std::vector<SourcePlace> places_in(std::uint64_t begin, std::uint64_t end,
                                     bool with_inlined) const;

 private:
  // From begin on, up to the next row.
  struct LineRow {
    std::uint64_t begin;
    SourcePlace place;
  };
  struct CallRange {
    std::uint64_t begin, end;
    std::uint32_t call;
    std::uint32_t depth;
  };
  struct FunctionRange {
    std::uint64_t begin, end;
    SourcePlace declared;
  };
  void read_rows(Dwarf_Die* unit, const NumberFile& number_file);
  void read_calls(Dwarf_Die* functions, Dwarf_Die* lines, const NumberFile& number_file,
                  const Interrupt& interrupt);
  void flatten(std::vector<CallRange> ranges);

  std::string name_;
  std::vector<LineRow> rows_;  // sorted
  std::vector<InlinedFunction> functions_;
  std::vector<InlinedCall> calls_;
  std::vector<CallRange> ranges_;         // sorted, apart from each other
  std::vector<FunctionRange> bodies_;     // of functions outside others; sorted
  std::vector<SourcePlace> definitions_;  // where these and inlined ones begin; sorted
};

}  // namespace gnomon::reader
