// Reserving and mapping a piece of an experiment's file. Any context, signal handlers too.
#pragma once
#include <cstdint>

#include "libcollector/format/control.h"

namespace gnomon::collector {

struct Range {
  void* at = nullptr;  // null: see failure
  format::Failure failure = format::Failure::none;
  int error = 0;  // errno
};

// Reserves [offset, offset + bytes) of `path` on disk, creating the file if need be, and maps it
// shared. offset and bytes: multiples of the page size. Holds no descriptor afterwards. A full disk
// or a limit is an error here, never a signal later. `over`, unless null: the mapping that this one
// takes the place of; it stays if there is a fault.
Range map_range(const char* path, std::uint64_t offset, std::uint64_t bytes, void* over = nullptr);
void unmap_range(void* at, std::uint64_t bytes);

// Appends `text` in one write, so that lines of several threads never mix. False: not written.
bool append_text(const char* path, const char* text, std::uint64_t bytes);

}  // namespace gnomon::collector
