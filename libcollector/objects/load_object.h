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

// From what dl_iterate_phdr(3) reports. An object without memory of its own has end <= begin.
LoadObject load_object_of(const dl_phdr_info& info);

}  // namespace gnomon::collector
