// Finds functions by address in the recorded process. Loads the symbols of a load object when the
// first address in it is asked for. Any thread, one at a time.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "reader/base/interrupt.h"
#include "reader/base/units.h"
#include "reader/experiment/experiment.h"
#include "reader/symbols/elf/module.h"
#include "reader/symbols/live_files.h"
#include "reader/symbols/symbol_index.h"

namespace gnomon::reader {

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
  bool is_unnamed = false;                // "<static>@...", made up
};

// Files of symbols that the user has named, by the load object's path.
using DebugFiles = std::map<std::string, std::string>;

inline constexpr const char* kTotal = "<Total>";
// The name of the function that stands for callers which a walk did not reach.
inline constexpr const char* kCutStack = "<Truncated-stack>";

class AddressSpace {
 public:
  // Takes the load objects that are known now in place of those of the last call. live: where the
  // files of a process that runs are found.
  void set_objects(const std::vector<LoadObject>& objects, LiveFiles live = {});
  // To be called before the first address is asked for.
  void set_debug_files(DebugFiles files) { debug_files_ = std::move(files); }
  // Asked while symbols are loaded; if it says yes the symbols are missing from then on.
  void set_interrupt(const Interrupt& interrupt) { interrupt_ = interrupt; }

  // The function at `pc` in that epoch; made up where there is no symbol: <Unknown>,
  // <static>@0x12345.
  FunctionId function_at(std::uint64_t pc, std::uint32_t epoch);
  // The function at an address of a file; made up where there is no symbol.
  FunctionId function_in(const Location& code);
  // Where the code of a function ends in its file.
  std::uint64_t end_of(const Function& function);
  FunctionId named(const std::string& name);  // a made-up function, such as <Total>
  // Where `pc` was in that epoch; none: in no load object.
  std::optional<Location> locate(std::uint64_t pc, std::uint32_t epoch) const;
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
    std::optional<SymbolIndex> symbols;  // none: not loaded yet
  };
  struct Object {
    LoadObject at;
    std::size_t file;
  };
  std::size_t file_of(const LoadObject& object);
  const Object* object_at(std::uint64_t pc, std::uint32_t epoch) const;
  template <typename T, typename Open>
  Result<T> first_that_opens(const File& file, Open open) const;
  Result<SymbolIndex> load(const File& file) const;
  FunctionId find(std::uint64_t pc, std::uint32_t epoch);
  const SymbolIndex& symbols_of(std::size_t file);
  FunctionId add(std::uint64_t file, std::uint64_t place, Function function);

  LiveFiles live_;
  std::vector<Object> objects_;
  std::vector<File> files_;
  std::unordered_multimap<std::string, std::size_t> files_by_path_;
  std::vector<Function> functions_;
  std::map<std::pair<std::uint64_t, std::uint64_t>, FunctionId> known_;  // file and place in it
  std::map<std::uint32_t, std::unordered_map<std::uint64_t, FunctionId>> by_pc_;  // by epoch
  std::unordered_map<std::string, FunctionId> named_;
  std::vector<std::string> faults_, doubtful_;
  std::set<std::string> stripped_;
  DebugFiles debug_files_;
  Interrupt interrupt_;
};

}  // namespace gnomon::reader
