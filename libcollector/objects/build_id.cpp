// The build-id of a load object. Any context.
#include "libcollector/objects/build_id.h"

#include <elf.h>

#include <cstring>

namespace gnomon::collector {

// Notes are read where they are mapped; sizes are checked against their segment (gABI, "Note
// Section").
BuildId build_id_of(const LoadObject& object) {
  for (std::size_t i = 0; i < object.header_count; ++i) {
    const auto& header = object.headers[i];
    if (header.p_type != PT_NOTE) continue;
    const std::uint64_t align = header.p_align == 8 ? 8 : 4;
    std::uint64_t at = object.bias + header.p_vaddr;
    const std::uint64_t end = at + header.p_memsz;
    if (at < object.begin || end > object.end) continue;
    while (at + sizeof(ElfW(Nhdr)) <= end) {
      const auto* note = reinterpret_cast<const ElfW(Nhdr)*>(at);
      const std::uint64_t name = at + sizeof *note;
      const std::uint64_t data = name + ((note->n_namesz + align - 1) & ~(align - 1));
      if (data + note->n_descsz > end) break;
      if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == 4 &&
          std::memcmp(reinterpret_cast<const char*>(name), "GNU", 4) == 0)
        return {reinterpret_cast<const unsigned char*>(data), note->n_descsz};
      at = data + ((note->n_descsz + align - 1) & ~(align - 1));
    }
  }
  return {};
}

}  // namespace gnomon::collector
