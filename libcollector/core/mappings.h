// The writable mappings of this process at one moment, where threads have their stacks. Made in
// normal context, asked in any: takes no lock.
#pragma once
#include <cstdint>

#include "libcollector/core/byte_range.h"

namespace gnomon::collector {

class Mappings {
 public:
  // Reads them anew; what was known before goes. False: no memory, or /proc is not there.
  bool read();
  // The one `address` lies in; empty: none.
  ByteRange find(std::uint64_t address) const;

 private:
  bool add(const ByteRange& range);

  ByteRange* ranges_ = nullptr;  // ascending
  std::uint64_t count_ = 0, room_ = 0;
};

}  // namespace gnomon::collector
