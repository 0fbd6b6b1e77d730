// Addresses of the profiled process to functions. Loads symbols of an object when it is first met.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "reader/base/units.h"
#include "reader/experiment/experiment.h"
#include "reader/symbols/symbol_index.h"

namespace gnomon::reader {

struct Function {
  std::string name;
  std::string object;  // path of the load object; empty: none
};

class AddressSpace {
 public:
  explicit AddressSpace(const std::vector<LoadObject>& objects);

  // The function at `pc`; made up where there is no symbol: <Unknown>, <static>@0x12345, [vdso].
  FunctionId function_at(std::uint64_t pc);
  FunctionId named(const std::string& name);  // a made-up function, such as <Total>
  const Function& function(FunctionId id) const { return functions_[index(id)]; }
  std::size_t size() const { return functions_.size(); }

  // Why symbols are missing, a clause an object. Complete once every pc was asked for.
  const std::vector<std::string>& faults() const { return faults_; }

 private:
  struct Object {
    LoadObject at;
    std::optional<SymbolIndex> symbols;  // none: not loaded yet
  };
  Object* object_at(std::uint64_t pc);
  FunctionId find(std::uint64_t pc);
  FunctionId add(std::uint64_t object, std::uint64_t place, Function function);

  std::vector<Object> objects_;
  std::vector<Function> functions_;
  std::map<std::pair<std::uint64_t, std::uint64_t>, FunctionId> known_;
  std::unordered_map<std::uint64_t, FunctionId> by_pc_;
  std::vector<std::string> faults_;
};

}  // namespace gnomon::reader
