// A load object as it lies in memory. Any context.
#include "libcollector/objects/load_object.h"

#include <algorithm>

namespace gnomon::collector {

std::uint64_t frame_header_of(const LoadObject& object) {
  for (std::size_t i = 0; i < object.header_count; ++i)
    if (object.headers[i].p_type == PT_GNU_EH_FRAME) return object.bias + object.headers[i].p_vaddr;
  return 0;
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
