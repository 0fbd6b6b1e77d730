// Calls that do I/O. In hooks: normal context, and signal handlers; no lock, no heap, no errno.
#pragma once
#include <cerrno>
#include <cstdint>

#include "libcollector/format/events.h"
#include "libcollector/trace/io/io_files.h"

namespace gnomon::collector {

using format::IoOperation;

struct IoCall {
  IoOperation operation;
  std::uint64_t since, until;  // ns
  std::uint64_t bytes = 0;     // that were moved
  int error = 0;               // errno; 0: none
};

void record_io(TracedCall& traced, const IoCall& done, std::uint32_t file);
// Records a call about a descriptor.
void record_io(const Call& call, const IoCall& done, int descriptor);
// Records a call that has, or has not, opened the descriptor.
void record_open(const Call& call, IoCall done, int descriptor, const char* path);

// Records a call about a path, and no descriptor.
void record_path(const Call& call, const IoCall& done, const char* path);

// Of the arguments of a function the path: the first, or the second where the first is the
// descriptor of a directory. Null where it has none, also where its first one is a template for
// names.
inline const char* path_in(const char* path, ...) { return path; }
inline const char* path_in(int, const char* path, ...) { return path; }
inline const char* path_in(...) { return nullptr; }

// Returns true where a stream's own call is about to do the I/O: it is recorded as that.
bool is_inside_stream(const Call& call);

// A call about a stream, from its begin on.
class InsideStream {
 public:
  explicit InsideStream(const Call& call);
  ~InsideStream();
  InsideStream(const InsideStream&) = delete;
  InsideStream& operator=(const InsideStream&) = delete;

 private:
  ThreadBlock* const block_;
  std::uint64_t before_ = 0, before_caller_ = 0;
};

// A call that has just returned. result: a negative one says that it has failed.
template <typename Result>
IoCall io_call(IoOperation operation, std::uint64_t since, Result result, bool moves_bytes) {
  IoCall done{operation, since, time_after()};
  if (result < 0) done.error = errno;
  if (result > 0 && moves_bytes) done.bytes = static_cast<std::uint64_t>(result);
  return done;
}

}  // namespace gnomon::collector
