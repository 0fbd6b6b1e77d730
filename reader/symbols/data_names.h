// Names variables by address in the recorded process. Any thread, one at a time.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "reader/base/interrupt.h"
#include "reader/base/result.h"
#include "reader/symbols/address_space.h"

namespace gnomon::reader {

class DataNames {
 public:
  // space: must outlive the object.
  explicit DataNames(const AddressSpace& space) : space_(space) {}

  // "queue", "pools+40 (libpool.so)", where the file of the load object has a symbol that contains
  // the address; "0x4080 in libpool.so" where it has none; empty: in no load object. epoch: as
  // `locate` has it.
  std::string name_of(std::uint64_t address, Epoch epoch, const Interrupt& interrupt);

 private:
  struct Variable {
    std::uint64_t begin, end;  // addresses of the file
    std::string symbol;
  };
  using Variables = std::vector<Variable>;  // sorted
  const Variables& of_file(std::size_t file, const Interrupt& interrupt);

  const AddressSpace& space_;
  std::map<std::size_t, Variables> files_;
};

}  // namespace gnomon::reader
