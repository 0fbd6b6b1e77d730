// A load object as it lies in memory. Any context.
#pragma once
#include <link.h>

#include <cstddef>
#include <cstdint>

#include "libcollector/core/byte_range.h"
#include "libcollector/unwind/frame_table.h"

namespace gnomon::collector {

struct LoadObject {
  std::uint64_t begin, end, bias;
  const char* path;
  const ElfW(Phdr) * headers;
  std::size_t header_count;
  ByteRange frames = {};  // .eh_frame; looked for only if there is no .eh_frame_hdr
};

// Returns the address of .eh_frame_hdr; 0: the object has none.
std::uint64_t frame_header_of(const LoadObject& object);

// Where the object's call frame information is: `frames` without a header.
FrameTable frame_table_of(const LoadObject& object);

// From what dl_iterate_phdr(3) reports. An object without memory of its own has end <= begin.
LoadObject load_object_of(const dl_phdr_info& info);

}  // namespace gnomon::collector
