// A load object as it lies in memory. Any context.
#include "libcollector/objects/load_object.h"

#include <algorithm>

namespace gnomon::collector {

std::uint64_t frame_header_of(const LoadObject& object) {
  for (std::size_t i = 0; i < object.header_count; ++i)
    if (object.headers[i].p_type == PT_GNU_EH_FRAME) return object.bias + object.headers[i].p_vaddr;
  return 0;
}

FrameTable frame_table_of(const LoadObject& object) {
  FrameTable table;
  table.header = frame_header_of(object);
  if (table.header == 0) table.frames = object.frames;
  for (std::size_t i = 0; i < object.header_count; ++i) {
    const auto& header = object.headers[i];
    const std::uint64_t begin = object.bias + header.p_vaddr;
    const ByteRange segment{begin, begin + header.p_filesz};
    if (header.p_type == PT_LOAD && header.p_flags & PF_R && segment.begin >= object.begin &&
        segment.end <= object.end)
      table.add(segment);
  }
  return table;
}

LoadObject load_object_of(const dl_phdr_info& info) {
  LoadObject object{~0ull, 0, info.dlpi_addr, info.dlpi_name, info.dlpi_phdr, info.dlpi_phnum, {}};
  for (std::size_t i = 0; i < object.header_count; ++i) {
    const auto& header = object.headers[i];
    if (header.p_type != PT_LOAD) continue;
    object.begin = std::min<std::uint64_t>(object.begin, object.bias + header.p_vaddr);
    object.end = std::max<std::uint64_t>(object.end, object.bias + header.p_vaddr + header.p_memsz);
  }
  return object;
}

}  // namespace gnomon::collector
