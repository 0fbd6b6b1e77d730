// Reserves and maps pieces of an experiment's files. Any context, signal handlers too.
#pragma once
#include <cstdint>

#include "libcollector/format/control.h"

namespace gnomon::collector {

struct Range {
  void* at = nullptr;  // null on failure, see below
  format::Failure failure = format::Failure::none;
  int error = 0;  // errno
};

// Reserves [offset, offset + bytes) of `path` on disk, creates the file if it does not exist, and
// maps the range shared. offset and bytes: multiples of the page size. Keeps no descriptor. A full
// disk or a limit is an error here, never a signal later. over: if not null, the mapping to
// replace; on failure it is left as it was.
Range map_range(const char* path, std::uint64_t offset, std::uint64_t bytes, void* over = nullptr);
void unmap_range(void* at, std::uint64_t bytes);

// Appends `text` in one write, so that lines of several threads never mix. Returns false if it was
// not written.
bool append_text(const char* path, const char* text, std::uint64_t bytes);

}  // namespace gnomon::collector
