// Streams of stdio: whether a call did I/O, and how much. In hooks: normal context.
#include "libcollector/trace/io/stream.h"

namespace gnomon::collector {

void record_output(const Call& call, const std::FILE* stream, const Look& before,
                   std::uint64_t since, std::int64_t given) {
  const Look after(stream);
  const std::int64_t written = before.unwritten + (given < 0 ? 0 : given) - after.unwritten;
  if (written <= 0 && given >= 0) return;
  IoCall done = io_call(IoOperation::write, since, given < 0 ? -1 : 0, false);
  if (written > 0) done.bytes = static_cast<std::uint64_t>(written);
  if (TracedCall traced(call); traced) record_io(traced, done, file_of(traced, stream->_fileno));
}

void record_input(const Call& call, const std::FILE* stream, const Look& before,
                  std::uint64_t since, std::int64_t taken, bool wanted_more) {
  const Look after(stream);
  std::int64_t fetched = taken - before.unread + after.unread;
  // A buffer that was filled again begins anew. How often it was cannot be seen: once, mostly.
  if (taken < 0)
    fetched = after.read_end == before.read_end && after.next >= before.next ? 0 : after.held;
  const bool met_end = wanted_more && !before.is_at_end;
  if (fetched <= 0 && !met_end) return;
  if (fetched < 0) fetched = 0;
  const bool has_failed = wanted_more && (stream->_flags & 0x20) != 0;  // _IO_ERR_SEEN
  IoCall done = io_call(IoOperation::read, since, has_failed ? -1 : 0, false);
  done.bytes = static_cast<std::uint64_t>(fetched);
  if (TracedCall traced(call); traced) record_io(traced, done, file_of(traced, stream->_fileno));
}

}  // namespace gnomon::collector
