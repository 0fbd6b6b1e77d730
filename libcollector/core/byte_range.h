// A range of addresses. Any context.
#pragma once
#include <cstdint>

namespace gnomon::collector {

struct ByteRange {
  std::uint64_t begin = 0, end = 0;  // end: one past the last
  bool contains(std::uint64_t at) const { return at >= begin && at < end; }
};

}  // namespace gnomon::collector
