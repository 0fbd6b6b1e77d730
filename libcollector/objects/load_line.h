// Lines of map.jsonl: an object was loaded, or unloaded. Any context.
#pragma once
#include <cstddef>
#include <cstdint>

#include "libcollector/core/byte_range.h"
#include "libcollector/objects/build_id.h"
#include "libcollector/objects/file_identity.h"
#include "libcollector/record/recorder.h"

namespace gnomon::collector {

// A load object in the recorded process, and what identifies its file: its build-id, or `file`.
struct LoadLine {
  std::uint64_t begin, end, bias;
  const char* path;
  BuildId build_id;
  FileIdentity file;  // all 0: not known
};

// Room for a line.
struct LineRoom {
  char* text;
  std::size_t size;
};

// Writes that the object is loaded in that epoch.
FileError write_load_line(Recorder& recorder, const LoadLine& object, std::uint32_t epoch,
                          LineRoom room);
// Writes that what was loaded there is not any more from epoch `next` on, which begins at `time`
// (CLOCK_MONOTONIC, ns).
FileError write_unload_line(Recorder& recorder, const ByteRange& where, std::uint32_t next,
                            std::uint64_t time, LineRoom room);

}  // namespace gnomon::collector
