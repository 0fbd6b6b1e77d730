// Streams of stdio: whether a call did I/O, and how much. In hooks: normal context.
#pragma once
#include <cstdint>
#include <cstdio>

#include "libcollector/hook/hook.h"
#include "libcollector/trace/io/io.h"

namespace gnomon::collector {

using Stream = std::FILE*;

// What a stream has in its buffer, by the part of its layout that glibc's header shows (macros like
// getc_unlocked depend on it, so it stays). Another thread may be using the stream.
struct Look {
  explicit Look(const std::FILE* stream)
      : unread(stream->_IO_read_end - stream->_IO_read_ptr),
        unwritten(stream->_IO_write_ptr - stream->_IO_write_base),
        held(stream->_IO_read_end - stream->_IO_read_base),
        next(stream->_IO_read_ptr),
        read_end(stream->_IO_read_end),
        is_at_end((stream->_flags & kEndSeen) != 0) {}
  static constexpr int kEndSeen = 0x10;  // _IO_EOF_SEEN
  std::int64_t unread, unwritten, held;
  const char *next, *read_end;
  bool is_at_end;
};

// Streams in memory and of the program's own functions have none.
inline bool has_descriptor(const std::FILE* stream) { return stream && stream->_fileno >= 0; }

// given: bytes that the call was asked to write, as far as it has; negative: it has failed.
void record_output(const Call& call, const std::FILE* stream, const Look& before,
                   std::uint64_t since, std::int64_t given);
// taken: bytes that the caller got; negative: not known. wanted_more: the call has met the end.
void record_input(const Call& call, const std::FILE* stream, const Look& before,
                  std::uint64_t since, std::int64_t taken, bool wanted_more);

// record: what remembers the call, from the stream as it was before, the time before, the result.
template <typename Body, typename Record>
auto traced_stream(const Call& call, Stream stream, Body body, Record record) {
  if (!has_descriptor(stream)) return body();
  const InsideStream inside(call);
  const Look before(stream);
  const std::uint64_t since = time_before();
  const auto result = body();
  record(before, since, result);
  return result;
}

template <typename Body, typename Given>
auto traced_output(const Call& call, Stream stream, Body body, Given given) {
  return traced_stream(call, stream, body,
                       [&](const Look& before, std::uint64_t since, auto result) {
                         record_output(call, stream, before, since, given(result));
                       });
}

struct Taken {
  std::int64_t bytes;
  bool wanted_more;
};

template <typename Body, typename TakenOf>
auto traced_input(const Call& call, Stream stream, Body body, TakenOf taken_of) {
  return traced_stream(call, stream, body,
                       [&](const Look& before, std::uint64_t since, auto result) {
                         const Taken taken = taken_of(result);
                         record_input(call, stream, before, since, taken.bytes, taken.wanted_more);
                       });
}

#define GNOMON_STREAM(name, result, parameters, ...)                                       \
  constinit NextSymbol<result(*) parameters> real_##name{#name};                           \
  result traced_##name parameters{__VA_ARGS__} GNOMON_TRACED(HookGroup::io, traced_##name, \
                                                             real_##name);

}  // namespace gnomon::collector
