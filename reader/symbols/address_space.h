// Finds functions by address in the recorded process. Loads the symbols of a load object when the
// first address in it is asked for. Any thread, one at a time.
#pragma once
#include <algorithm>
#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "libcollector/format/stacks.h"
#include "reader/base/flat_map.h"
#include "reader/base/interrupt.h"
#include "reader/base/units.h"
#include "reader/experiment/experiment.h"
#include "reader/symbols/elf/module.h"
#include "reader/symbols/elf/symbol_index.h"
#include "reader/symbols/expansion.h"
#include "reader/symbols/kernel_names.h"
#include "reader/symbols/live_files.h"
#include "reader/symbols/perf_map.h"

namespace gnomon::reader {

// The epoch that the mark of a stack's node tells.
inline Epoch epoch_of_mark(std::uint32_t part, std::uint64_t pc) {
  return {part, static_cast<std::uint32_t>(pc)};
}

// A place in a load object's file, of which each has a number however often it was loaded.
struct Location {
  static constexpr std::size_t kNoFile = ~std::size_t{0};
  std::size_t file = kNoFile;
  std::uint64_t address = 0;
};

struct Function {
  std::string name;
  std::string object = {};                // path of the load object; empty: none
  std::size_t file = Location::kNoFile;   // number of the object's file
  std::uint64_t address = 0, size = 0;    // there, bytes; size 0: not known
  std::string symbol = {};                // its name in the file; empty: it has none
  std::string module = {};                // of a static function: its source file, if it is known
  std::vector<std::string> aliases = {};  // other names of the same code
  bool is_part = false;                   // outlined: jumped to, such as "f.cold" of f
  bool is_inlined = false;                // everywhere, as far as is known: it has no address
  bool is_unnamed = false;                // "<static>@...", made up
};

// Which functions of a file have names.
enum class SymbolState : std::uint8_t { none, exported, all };

// Files of symbols that the user has named, by the load object's path.
using DebugFiles = std::map<std::string, std::string>;

inline constexpr const char* kTotal = "<Total>";
// The name of the function that stands for callers which a walk did not reach.
inline constexpr const char* kCutStack = "<Truncated-stack>";
inline constexpr const char* kWaiting = "<Waiting>";
// And for code that lies in no load object and has no name.
inline constexpr const char* kUnknown = "<Unknown>";

class AddressSpace {
 public:
  // Takes the load objects of a part (from 0) that are known now in place of those of the last
  // call, and the names of code that lies in no load object. live: where the files of a process
  // that runs are found.
  void set_objects(std::size_t part, const Experiment& experiment, LiveFiles live = {});
  // Why names of code that was made at run time were not taken, sentences.
  std::vector<std::string> refusals() const;
  // To be called before the first address is asked for.
  void set_debug_files(DebugFiles files) { debug_files_ = std::move(files); }
  // Changes nothing of what this class answers: those who make profiles ask.
  void set_expansions(const Expansions& expansions) { expansions_ = expansions; }
  bool has_expansions() const { return !expansions_.empty(); }
  Expansion expansion_of(std::size_t file) const { return expansions_.of(files_[file].path); }
  // The function that stands for all of a file.
  FunctionId hidden(std::size_t file);
  SymbolState symbol_state(std::size_t file);
  // Asked while symbols are loaded; if it says yes the symbols are missing from then on.
  void set_interrupt(const Interrupt& interrupt) { interrupt_ = interrupt; }

  // The function at `pc` in that epoch; made up where there is no symbol: <Unknown>,
  // <static>@0x12345.
  FunctionId function_at(std::uint64_t pc, Epoch epoch);
  // The function at an address of a file; made up where there is no symbol.
  FunctionId function_in(const Location& code);
  // The function of that symbol in a file, wherever its code is; is_inlined where it has none of
  // its own.
  FunctionId inlined_function(std::size_t file, const std::string& symbol);
  // The function that this one is an outlined part of: code that is jumped to, such as "f.cold" of
  // f; none: it is a whole one.
  std::optional<FunctionId> whole_of(FunctionId part);
  // The function that a compiler has made this one a copy or a part of, such as f of
  // "f.constprop.0"; none: there is none by that name, or several.
  std::optional<FunctionId> stem_of(FunctionId copy);
  // Where the code of a function ends in its file.
  std::uint64_t end_of(const Function& function);
  FunctionId named(const std::string& name);  // a made-up function, such as <Total>
  // Where `pc` was in that epoch; none: in no load object.
  std::optional<Location> locate(std::uint64_t pc, Epoch epoch) const;
  // The number of the file whose code is there; the kernel and its modules are files as well, which
  // cannot be opened.
  std::optional<std::size_t> file_at(std::uint64_t pc, Epoch epoch);
  // The file with that number, with its debug file. Fault: says why it cannot be read.
  Result<Module> open(std::size_t file, const Interrupt& interrupt) const;
  const std::string& path(std::size_t file) const { return files_[file].path; }
  const Function& function(FunctionId id) const { return functions_[index(id)]; }
  std::size_t size() const { return functions_.size(); }

  // Why symbols are missing, a clause an object. Complete once every pc was asked for.
  const std::vector<std::string>& faults() const { return faults_; }
  // Files that may not be those of the recording, paths. Complete once every pc was asked for.
  const std::vector<std::string>& doubtful() const { return doubtful_; }
  // Files of which only exported functions have names, paths.
  const std::set<std::string>& stripped() const { return stripped_; }

 private:
  // One file however often it was loaded.
  struct File {
    std::string path;
    FileIdentity identity;
    std::size_t part;                    // that has it
    std::optional<SymbolIndex> symbols;  // none: not loaded yet
    bool is_unreadable = false;
  };
  struct Object {
    LoadObject at;
    std::size_t file;
  };
  // What one process had mapped.
  struct Process {
    std::vector<Object> objects;
    KernelNames kernel;
    LiveFiles live;
    PerfMap made;
    bool has_unnamed = false;  // code without an object that `made` does not name either
  };
  std::size_t file_of(const LoadObject& object, std::size_t part);
  const Object* object_at(std::uint64_t pc, Epoch epoch) const;
  template <typename T, typename Open>
  Result<T> first_that_opens(const File& file, Open open) const;
  Result<SymbolIndex> load(const File& file) const;
  FunctionId find(std::uint64_t pc, Epoch epoch);
  FunctionId kernel_function(std::uint64_t pc, std::size_t part);
  std::size_t kernel_file(const KernelNames::Named& function, std::size_t part);
  const SymbolIndex& symbols_of(std::size_t file);
  FunctionId add(std::uint64_t file, std::uint64_t place, Function function);
  // The function of that symbol which this one was made of.
  std::optional<FunctionId> origin(const Function& made, const std::string& symbol);

  std::vector<Process> processes_;  // by part
  std::vector<File> files_;
  std::unordered_multimap<std::string, std::size_t> files_by_path_;
  std::vector<Function> functions_;
  std::map<std::pair<std::uint64_t, std::uint64_t>, FunctionId> known_;  // file and place in it
  std::map<Epoch, FlatMap<FunctionId>> by_pc_;                           // by epoch
  std::unordered_map<std::string, FunctionId> named_;
  std::map<std::pair<std::size_t, std::string>, FunctionId> inlined_;
  std::map<std::pair<std::string, std::string>, FunctionId> kernel_;  // by name and module
  std::map<std::string, std::size_t> kernel_files_;                   // by path
  std::map<std::size_t, FunctionId> hidden_;                          // by file
  Expansions expansions_;
  std::vector<std::string> faults_, doubtful_;
  std::set<std::string> stripped_;
  DebugFiles debug_files_;
  Interrupt interrupt_;
};

}  // namespace gnomon::reader
