// Traced: opening, flushing, placing and closing streams of stdio. Normal context.
#include <stdio.h>

#include "libcollector/trace/io/stream.h"

namespace gnomon::collector {
namespace {

using enum IoOperation;

int descriptor_of(const std::FILE* stream) { return has_descriptor(stream) ? stream->_fileno : -1; }

template <typename Open>
Stream opens_stream(const Call& call, const char* path, Open open_it) {
  const std::uint64_t since = time_before();
  Stream stream = open_it();
  record_open(call, io_call(open, since, stream ? 0 : -1, false), descriptor_of(stream), path);
  return stream;
}

#define GNOMON_OPENS_STREAM(name, path, parameters, ...)                                     \
  GNOMON_STREAM(name, Stream, parameters, return opens_stream(GNOMON_OWN_CALL(), path, [&] { \
                  return real_##name(__VA_ARGS__);                                           \
                });)
GNOMON_OPENS_STREAM(fopen, path, (const char* path, const char* mode), path, mode);
GNOMON_OPENS_STREAM(fopen64, path, (const char* path, const char* mode), path, mode);
GNOMON_OPENS_STREAM(freopen, path, (const char* path, const char* mode, Stream stream), path, mode,
                    stream);
GNOMON_OPENS_STREAM(freopen64, path, (const char* path, const char* mode, Stream stream), path,
                    mode, stream);
GNOMON_OPENS_STREAM(tmpfile, nullptr, ());
GNOMON_OPENS_STREAM(tmpfile64, nullptr, ());
GNOMON_OPENS_STREAM(popen, nullptr, (const char* command, const char* mode), command, mode);

// What it still has to write is written by the same call, whose time is the writing's.
template <typename Close>
int closes_stream(const Call& call, Stream stream, Close close_it) {
  if (!has_descriptor(stream)) return close_it();
  const Look before(stream);
  const std::uint32_t file = known_file(stream->_fileno);
  forget_file(stream->_fileno);
  const std::uint64_t since = time_before();
  const int result = [&] {
    const InsideStream inside(call);
    return close_it();
  }();
  IoCall done = io_call(close, since, result, false);
  TracedCall traced(call);
  if (!traced) return result;
  if (before.unwritten > 0) {
    IoCall written = done;
    written.operation = write;
    if (result >= 0) written.bytes = static_cast<std::uint64_t>(before.unwritten);
    record_io(traced, written, file);
    done.since = done.until;
    done.error = 0;
  }
  record_io(traced, done, file);
  return result;
}
#define GNOMON_CLOSES_STREAM(name)                                                                \
  GNOMON_STREAM(name, int, (Stream stream), return closes_stream(GNOMON_OWN_CALL(), stream, [&] { \
                  return real_##name(stream);                                                     \
                });)
GNOMON_CLOSES_STREAM(fclose);
GNOMON_CLOSES_STREAM(pclose);

// fflush(NULL) is about all streams: it is recorded as it is, without bytes.
template <typename Flush>
int flushes(const Call& call, Stream stream, Flush flush_it) {
  if (stream) return traced_output(call, stream, flush_it, [](int result) { return result; });
  const std::uint64_t since = time_before();
  const int result = flush_it();
  record_io(call, io_call(sync, since, result, false), -1);
  return result;
}
GNOMON_STREAM(fflush, int, (Stream stream),
              return flushes(GNOMON_OWN_CALL(), stream, [&] { return real_fflush(stream); });)
GNOMON_STREAM(fflush_unlocked, int, (Stream stream), return flushes(GNOMON_OWN_CALL(), stream, [&] {
                return real_fflush_unlocked(stream);
              });)

// It may write first what waits to be written.
template <typename Seek>
int seeks(const Call& call, Stream stream, Seek seek_it) {
  if (!has_descriptor(stream)) return seek_it();
  const Look before(stream);
  const std::uint64_t since = time_before();
  const int result = [&] {
    const InsideStream inside(call);
    return seek_it();
  }();
  IoCall done = io_call(before.unwritten > 0 ? write : seek, since, result, false);
  if (before.unwritten > 0 && result >= 0)
    done.bytes = static_cast<std::uint64_t>(before.unwritten);
  if (TracedCall traced(call); traced) record_io(traced, done, file_of(traced, stream->_fileno));
  return result;
}
#define GNOMON_SEEKS(name, parameters, ...)                                          \
  GNOMON_STREAM(name, int, parameters, return seeks(GNOMON_OWN_CALL(), stream, [&] { \
                  return real_##name(__VA_ARGS__);                                   \
                });)
GNOMON_SEEKS(fseek, (Stream stream, long offset, int from), stream, offset, from);
GNOMON_SEEKS(fseeko, (Stream stream, off_t offset, int from), stream, offset, from);
GNOMON_SEEKS(fseeko64, (Stream stream, off64_t offset, int from), stream, offset, from);

GNOMON_SEEKS(fsetpos, (Stream stream, const fpos_t* place), stream, place);
GNOMON_SEEKS(fsetpos64, (Stream stream, const fpos64_t* place), stream, place);
GNOMON_STREAM(rewind, void, (Stream stream), seeks(GNOMON_OWN_CALL(), stream, [&] {
                real_rewind(stream);
                return 0;
              });)

}  // namespace
}  // namespace gnomon::collector
