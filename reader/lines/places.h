// Names places in the recorded code: lines and instructions, as reports list them. Opens the debug
// information of a load object when the first address in it is asked for. Any thread, one at a
// time.
#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "reader/base/flat_map.h"
#include "reader/base/interrupt.h"
#include "reader/lines/code_bytes.h"
#include "reader/lines/object_lines.h"
#include "reader/lines/source_files.h"
#include "reader/symbols/address_space.h"
#include "reader/symbols/elf/plt.h"

namespace gnomon::reader {

// What counts as one place. line: a line within a function, of which all copies are one. source: a
// line of a file, whatever function its code is in. instruction: by its address. object: all of a
// load object.
enum class Grain : std::uint8_t { line, source, instruction, object };
inline constexpr std::size_t kGrains = 4;

// A number among the places of one grain.
enum class PlaceId : std::uint32_t {};

struct Place {
  FunctionId function{};      // of several the first that was met
  SourcePlace source = {};    // of code without line numbers: unknown
  std::uint64_t address = 0;  // instruction: in the load object's file
};

class Places {
 public:
  explicit Places(AddressSpace& space) : space_(space) {}

  // Of an instruction that was recorded. is_leaf: the thread was at that instruction; otherwise
  // `pc` lies within a call.
  PlaceId at(Grain grain, std::uint64_t pc, Epoch epoch, bool is_leaf, const Interrupt& interrupt);
  // One behind the other, from the outermost, of the functions that were inlined into each other
  // there and that this instruction belongs to; without inlining the same as `at`.
  std::vector<PlaceId> chain_at(Grain grain, std::uint64_t pc, Epoch epoch, bool is_leaf,
                                const Interrupt& interrupt);
  // The functions of that chain.
  struct InlineFrame {
    FunctionId function;
    SourcePlace source;  // where it is in that function
  };
  const std::vector<InlineFrame>& inlined_at(std::uint64_t pc, Epoch epoch,
                                             const Interrupt& interrupt);
  // Of a function that is made up, such as <Unknown>, or of a function's code without lines.
  PlaceId of(Grain grain, FunctionId function);
  // Of a load object that is shown as one function.
  PlaceId of_hidden(Grain grain, std::size_t file);
  PlaceId of_total(Grain grain) { return of(grain, space_.named(kTotal)); }
  // Of what stands for callers that a walk did not reach.
  PlaceId of_cut_stack(Grain grain) { return of(grain, space_.named(kCutStack)); }

  const Place& place(Grain grain, PlaceId id) const {
    return grains_[index(grain)].places[index(id)];
  }
  std::size_t size(Grain grain) const { return grains_[index(grain)].places.size(); }
  const SourceFiles& files() const { return files_; }
  AddressSpace& space() const { return space_; }
  // Where a function begins.
  SourcePlace begin_of(FunctionId id, const Interrupt& interrupt);
  // The name of its compilation unit, as the compiler was given it; empty: not known.
  std::string unit_of(FunctionId id, const Interrupt& interrupt);
  // Where the code at an address of a file comes from; what is inlined there: where the outermost
  // call is made.
  SourcePlace source(const Location& code, const Interrupt& interrupt);
  // What a slot of the global offset table leads to; null: it is none.
  const SlotTarget* slot(const Location& slot, const Interrupt& interrupt);
  // The bytes of a file's code; none where it cannot be read.
  const CodeBytes& code(std::size_t file, const Interrupt& interrupt);
  // The lines that the code of a function comes from, as `source` counts them, in order.
  std::vector<SourcePlace> places_of(const Function& function, const Interrupt& interrupt);
  // Where it is defined; its file is `none` if that is not known.
  DefinedLines defined_lines(const Function& function, const Interrupt& interrupt);
  // The lines of a file that have code, in order, as far as compilation units were read.
  // with_inlined: also those of what is inlined.
  std::vector<std::uint32_t> lines_with_code(SourceFileId file, bool with_inlined) const;
  // Addresses that were in no load object may be in one now.
  void objects_have_changed();

  // Why an object's code has no lines: by its path, a sentence.
  const std::map<std::string, std::string>& without_lines() const { return without_lines_; }
  // Why functions are missing that were inlined into code of an object: sentences, of the code that
  // was asked for.
  std::vector<std::string> without_inlines() const;
  // Paths of the objects whose code was asked for and cannot be read. Instructions of callers in
  // them are named by the last byte of the call.
  std::vector<std::string> without_code() const;

 private:
  using Key = std::tuple<std::uint32_t, std::uint64_t, std::uint64_t>;
  struct OfGrain {
    std::vector<Place> places;
    std::map<Key, PlaceId> known;
  };
  struct Known {
    FunctionId function{};
    std::array<PlaceId, kGrains> ids{};
  };
  // Of the file with that number; null: it has none.
  ObjectLines* lines_of(std::size_t file, const Interrupt& interrupt);
  Known find(std::uint64_t pc, Epoch epoch, bool is_leaf, const Interrupt& interrupt);
  PlaceId add(Grain grain, const Key& key, const Place& place);
  // Of a line, or of a function's code without lines.
  PlaceId add_line(Grain grain, FunctionId function, const SourcePlace& source);
  struct Unit {
    ObjectLines* lines = nullptr;
    const UnitLines* unit = nullptr;  // null: it has no lines
    std::uint64_t address = 0;        // the DWARF's
  };
  Unit unit_at(const Location& code, const Interrupt& interrupt);
  PlaceId of_object(FunctionId function);
  FunctionId stem_of(FunctionId function);

  AddressSpace& space_;
  SourceFiles files_;
  std::array<OfGrain, kGrains> grains_;
  std::map<Epoch, FlatMap<Known>> known_;  // by epoch
  std::map<Epoch, std::unordered_map<std::uint64_t, std::vector<InlineFrame>>>
      inlined_;                                 // by epoch and pc
  std::map<FunctionId, SourcePlace> declared_;  // functions that are inlined
  std::map<std::size_t, std::optional<ObjectLines>> lines_;
  std::map<std::size_t, CodeBytes> code_;
  std::map<std::size_t, std::map<std::uint64_t, SlotTarget>> slots_;
  std::map<std::string, std::string> without_lines_;
  // Of copies and parts of what has no code of its own: by load object, source file and name.
  std::map<std::tuple<std::string, std::string, std::string>, FunctionId> stems_;
  std::vector<std::optional<FunctionId>> stem_of_;  // by FunctionId
};

}  // namespace gnomon::reader
