// Reserves, maps and writes pieces of an experiment's files. Any context, signal handlers too.
#pragma once
#include <cstdint>

#include "libcollector/format/control.h"
#include "libcollector/record/experiment_directory.h"

namespace gnomon::collector {

struct FileError {
  format::Failure failure = format::Failure::none;
  int error = 0;  // errno

  explicit operator bool() const { return failure != format::Failure::none; }
};

struct Range {
  void* at = nullptr;  // null on failure, see below
  format::Failure failure = format::Failure::none;
  int error = 0;  // errno
};

// A file of an experiment. The directory and the name must outlive it.
struct File {
  const ExperimentDirectory& directory;
  const char* name;
};

// must_be_new: the file must not exist yet, so that nobody else has it open.
enum class Create { if_missing, must_be_new };

// Reserves [offset, offset + bytes) of the file on disk, creates the file as `create` says, and
// maps the range shared. offset and bytes: multiples of the page size. A full disk or a limit is an
// error here, never a signal later. over: if not null, the mapping to replace; on failure it is
// left as it was.
Range map_range(File file, Create create, std::uint64_t offset, std::uint64_t bytes,
                void* over = nullptr);
void unmap_range(void* at, std::uint64_t bytes);

// Writes `bytes` at `offset`; creates the file if it is missing.
FileError write_range(File file, std::uint64_t offset, const void* from, std::uint64_t bytes);

// Cuts the file. Nobody may have the part beyond `bytes` mapped.
void cut_file(File file, std::uint64_t bytes);

// Appends `text` in one write, so that lines of several threads never mix.
FileError append_text(File file, const char* text, std::uint64_t bytes);

}  // namespace gnomon::collector
