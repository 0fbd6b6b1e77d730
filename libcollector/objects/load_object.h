// A load object as it lies in memory. Any context.
#pragma once
#include <link.h>

#include <cstddef>
#include <cstdint>

namespace gnomon::collector {

struct LoadObject {
  std::uint64_t begin, end, bias;
  const char* path;
  const ElfW(Phdr) * headers;
  std::size_t header_count;
};

// As the loader tells it (dl_iterate_phdr(3)). No memory of its own: end <= begin.
LoadObject load_object_of(const dl_phdr_info& info);

}  // namespace gnomon::collector
