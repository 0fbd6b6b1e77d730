// The readable mappings of this process at one moment. read() and clear(): normal context. find():
// any context, takes no lock.
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
  // Reads the mappings and replaces those known before. Returns false if memory is short or /proc
  // is not mounted.
  bool read();
  // Returns the mapping that contains `address`, or an empty one.
  Mapping find(std::uint64_t address) const;
  // Forgets all mappings and frees their memory.
  void clear();

 private:
  bool read_here();
  bool add(const Mapping& mapping);

  Mapping* ranges_ = nullptr;  // ascending
  std::uint64_t count_ = 0, room_ = 0;
};

}  // namespace gnomon::collector
