// What only a load object's file tells, because it is not mapped where it is expected. The context
// stands at each function.
#pragma once
#include <link.h>

#include <cstddef>
#include <cstdint>

#include "libcollector/core/byte_range.h"
#include "libcollector/objects/load_object.h"

namespace gnomon::collector {

// Room for program headers.
struct HeaderRoom {
  static constexpr std::size_t kMax = 32;
  ElfW(Phdr) headers[kMax];
};

// Reads the program headers of the file whose ELF header is mapped at `elf`. Returns their number;
// 0 if the file is not that one, or there are too many. Any context: raw system calls.
std::size_t read_program_headers(const char* path, const ElfW(Ehdr) & elf, HeaderRoom& room);

// Returns where the .eh_frame of the object lies that has no .eh_frame_hdr; empty if nowhere. path:
// of the object's file. Normal context: reads up to a thousand section headers.
ByteRange find_frame_section(const char* path, const LoadObject& object);

}  // namespace gnomon::collector
