// Frame tables of the running program's load objects, for tests. Any context.
#pragma once
#include <dlfcn.h>
#include <link.h>

#include "libcollector/unwind/frame_table.h"

namespace gnomon::tests {

inline bool find_loaded_table(std::uint64_t pc, collector::FrameTable& found) {
  dl_find_object object{};
  if (_dl_find_object(reinterpret_cast<void*>(pc), &object) != 0) return false;
  found.header = reinterpret_cast<std::uint64_t>(object.dlfo_eh_frame);
  found.segment_count = 0;
  const auto* elf = static_cast<const ElfW(Ehdr)*>(object.dlfo_map_start);
  const auto* header = reinterpret_cast<const ElfW(Phdr)*>(
      static_cast<const char*>(object.dlfo_map_start) + elf->e_phoff);
  for (int i = 0; i < elf->e_phnum; ++i) {
    const std::uint64_t begin = object.dlfo_link_map->l_addr + header[i].p_vaddr;
    if (header[i].p_type == PT_LOAD) found.add({begin, begin + header[i].p_filesz});
  }
  return found.segment_of(found.header).contains(found.header);
}

}  // namespace gnomon::tests
