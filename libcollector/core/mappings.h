// The readable mappings of this process at one moment. Made in normal context, asked in any: takes
// no lock.
#pragma once
#include <cstdint>

#include "libcollector/core/byte_range.h"

namespace gnomon::collector {

struct Mapping {
  ByteRange range;
  bool writable = false;
};

class Mappings {
 public:
  // Reads them anew; what was known before goes. False: no memory, or /proc is not there.
  bool read();
  // The one `address` lies in; empty: none.
  Mapping find(std::uint64_t address) const;
  // Nothing is known, and no memory used.
  void clear();

 private:
  bool add(const Mapping& mapping);

  Mapping* ranges_ = nullptr;  // ascending
  std::uint64_t count_ = 0, room_ = 0;
};

}  // namespace gnomon::collector
