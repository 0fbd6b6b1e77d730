// What tells two builds of a file without a build-id apart: a digest of its program headers and of
// .eh_frame_hdr, which lists where every function begins. Both are in memory as they are in the
// file.
#pragma once
#include <cstddef>
#include <cstdint>

#include "libcollector/format/block.h"

namespace gnomon::format {

// Any context: reads memory only.
inline std::uint64_t layout_step(std::uint64_t sum, const void* bytes, std::size_t size) {
  const auto* at = static_cast<const unsigned char*>(bytes);
  sum = digest_step(sum, size);
  for (std::size_t done = 0; done < size; done += sizeof sum) {
    std::uint64_t word = 0;
    __builtin_memcpy(&word, at + done, size - done < sizeof word ? size - done : sizeof word);
    sum = digest_step(sum, word);
  }
  return sum;
}

}  // namespace gnomon::format
