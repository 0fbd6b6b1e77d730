// Decodes instructions; the place that a report is made in knows how. Any thread, one at a time.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "reader/base/result.h"

namespace gnomon::reader {

struct Instruction {
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  std::string mnemonic, operands;  // of a direct jump or call: its target, as a hexadecimal number
};

class Disassembler {
 public:
  virtual ~Disassembler() = default;
  // code: begins at `address`. Returns the instructions up to the first that is none.
  virtual Result<std::vector<Instruction>> decode(std::span<const unsigned char> code,
                                                  std::uint64_t address) = 0;
};

}  // namespace gnomon::reader
