// Names of the kernel's functions as the recording has noted them: kernel.jsonl. Any thread, one at
// a time.
#pragma once
#include <cstdint>
#include <map>
#include <string>

#include "reader/experiment/experiment.h"

namespace gnomon::reader {

class KernelNames {
 public:
  struct Named {
    std::uint64_t begin = 0, end = 0;  // addresses
    std::string name, module;          // module: empty: it is of the kernel itself
  };
  // Reads the lines that were added since the last call. A missing file has none: the recording saw
  // nothing of the kernel, or not its addresses.
  void read_new(const Experiment& experiment);
  // Returns null if the function is not known.
  const Named* find(std::uint64_t pc) const;

 private:
  std::map<std::uint64_t, Named> functions_;  // by their first address
  std::string directory_;
  std::uint64_t read_ = 0;  // bytes of the file
};

}  // namespace gnomon::reader
