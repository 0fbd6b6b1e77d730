// Traced: calls about streams of stdio that do I/O. Normal context.
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstring>

#include "libcollector/trace/io/stream.h"

namespace gnomon::collector {
namespace {

using Bytes = std::size_t;

// Output.

std::int64_t given_or_failed(int result) { return result < 0 ? -1 : result; }
std::int64_t one_or_failed(int result) { return result == EOF ? -1 : 1; }

#define GNOMON_WRITES_ITEMS(name)                                                               \
  GNOMON_STREAM(name, Bytes, (const void* data, Bytes size, Bytes count, Stream to),            \
                return traced_output(                                                           \
                    GNOMON_OWN_CALL(), to, [&] { return real_##name(data, size, count, to); },  \
                    [&](Bytes written) {                                                        \
                      return written < count && std::ferror(to) ? -1                            \
                                                                : std::int64_t(written * size); \
                    });)
GNOMON_WRITES_ITEMS(fwrite);
GNOMON_WRITES_ITEMS(fwrite_unlocked);

#define GNOMON_WRITES_TEXT(name)                                        \
  GNOMON_STREAM(                                                        \
      name, int, (const char* text, Stream to),                         \
      return traced_output(                                             \
          GNOMON_OWN_CALL(), to, [&] { return real_##name(text, to); }, \
          [&](int result) { return result == EOF ? -1 : std::int64_t(std::strlen(text)); });)
GNOMON_WRITES_TEXT(fputs);
GNOMON_WRITES_TEXT(fputs_unlocked);
GNOMON_STREAM(puts, int, (const char* text),
              return traced_output(
                  GNOMON_OWN_CALL(), stdout, [&] { return real_puts(text); },
                  [&](int result) {
                    return result == EOF ? -1 : std::int64_t(std::strlen(text)) + 1;
                  });)

#define GNOMON_WRITES_ONE(name)                \
  GNOMON_STREAM(name, int, (int c, Stream to), \
                return traced_output(          \
                    GNOMON_OWN_CALL(), to, [&] { return real_##name(c, to); }, one_or_failed);)
GNOMON_WRITES_ONE(fputc);
GNOMON_WRITES_ONE(putc);
GNOMON_WRITES_ONE(fputc_unlocked);
GNOMON_WRITES_ONE(putc_unlocked);
#define GNOMON_WRITES_ONE_TO_STDOUT(name) \
  GNOMON_STREAM(name, int, (int c),       \
                return traced_output(     \
                    GNOMON_OWN_CALL(), stdout, [&] { return real_##name(c); }, one_or_failed);)
GNOMON_WRITES_ONE_TO_STDOUT(putchar);
GNOMON_WRITES_ONE_TO_STDOUT(putchar_unlocked);
// What macros call where the buffer is full.
GNOMON_STREAM(__overflow, int, (Stream to, int c),
              return traced_output(
                  GNOMON_OWN_CALL(), to, [&] { return real___overflow(to, c); }, one_or_failed);)

// Formatted output is that of the function that takes a va_list.
#define GNOMON_PRINTS(name, via, parameters, to, last, ...)                                     \
  constinit NextSymbol<int(*) parameters> real_##name{#name};                                   \
  int traced_##name parameters {                                                                \
    std::va_list more;                                                                          \
    va_start(more, last);                                                                       \
    const int result = traced_output(                                                           \
        GNOMON_OWN_CALL(), to, [&] { return real_##via(__VA_ARGS__, more); }, given_or_failed); \
    va_end(more);                                                                               \
    return result;                                                                              \
  }                                                                                             \
  GNOMON_TRACED(HookGroup::io, traced_##name, real_##name)

GNOMON_STREAM(vfprintf, int, (Stream to, const char* format, std::va_list more),
              return traced_output(
                  GNOMON_OWN_CALL(), to, [&] { return real_vfprintf(to, format, more); },
                  given_or_failed);)
GNOMON_STREAM(__vfprintf_chk, int, (Stream to, int flag, const char* format, std::va_list more),
              return traced_output(
                  GNOMON_OWN_CALL(), to,
                  [&] { return real___vfprintf_chk(to, flag, format, more); }, given_or_failed);)
GNOMON_STREAM(vprintf, int, (const char* format, std::va_list more),
              return traced_output(
                  GNOMON_OWN_CALL(), stdout, [&] { return real_vfprintf(stdout, format, more); },
                  given_or_failed);)
GNOMON_STREAM(__vprintf_chk, int, (int flag, const char* format, std::va_list more),
              return traced_output(
                  GNOMON_OWN_CALL(), stdout,
                  [&] { return real___vfprintf_chk(stdout, flag, format, more); },
                  given_or_failed);)
GNOMON_PRINTS(printf, vfprintf, (const char* format, ...), stdout, format, stdout, format);
GNOMON_PRINTS(fprintf, vfprintf, (Stream to, const char* format, ...), to, format, to, format);
GNOMON_PRINTS(__printf_chk, __vfprintf_chk, (int flag, const char* format, ...), stdout, format,
              stdout, flag, format);
GNOMON_PRINTS(__fprintf_chk, __vfprintf_chk, (Stream to, int flag, const char* format, ...), to,
              format, to, flag, format);

// Input.

#define GNOMON_READS_ITEMS(name, parameters, ...)                                      \
  GNOMON_STREAM(name, Bytes, parameters,                                               \
                return traced_input(                                                   \
                    GNOMON_OWN_CALL(), from, [&] { return real_##name(__VA_ARGS__); }, \
                    [&](Bytes got) {                                                   \
                      return Taken{std::int64_t(got * size), got < count};             \
                    });)
GNOMON_READS_ITEMS(fread, (void* to, Bytes size, Bytes count, Stream from), to, size, count, from);
GNOMON_READS_ITEMS(fread_unlocked, (void* to, Bytes size, Bytes count, Stream from), to, size,
                   count, from);
GNOMON_READS_ITEMS(__fread_chk, (void* to, Bytes room, Bytes size, Bytes count, Stream from), to,
                   room, size, count, from);
GNOMON_READS_ITEMS(__fread_unlocked_chk,
                   (void* to, Bytes room, Bytes size, Bytes count, Stream from), to, room, size,
                   count, from);

Taken taken_line(const char* line) {
  return line ? Taken{static_cast<std::int64_t>(std::strlen(line)), false} : Taken{0, true};
}
#define GNOMON_READS_LINE(name, parameters, ...) \
  GNOMON_STREAM(                                 \
      name, char*, parameters,                   \
      return traced_input(                       \
          GNOMON_OWN_CALL(), from, [&] { return real_##name(__VA_ARGS__); }, taken_line);)
GNOMON_READS_LINE(fgets, (char* to, int room, Stream from), to, room, from);
GNOMON_READS_LINE(fgets_unlocked, (char* to, int room, Stream from), to, room, from);
GNOMON_READS_LINE(__fgets_chk, (char* to, Bytes size, int room, Stream from), to, size, room, from);
GNOMON_READS_LINE(__fgets_unlocked_chk, (char* to, Bytes size, int room, Stream from), to, size,
                  room, from);

Taken taken_one(int result) { return {result == EOF ? 0 : 1, result == EOF}; }
#define GNOMON_READS_ONE(name)            \
  GNOMON_STREAM(name, int, (Stream from), \
                return traced_input(      \
                    GNOMON_OWN_CALL(), from, [&] { return real_##name(from); }, taken_one);)
GNOMON_READS_ONE(fgetc);
GNOMON_READS_ONE(getc);
GNOMON_READS_ONE(fgetc_unlocked);
GNOMON_READS_ONE(getc_unlocked);
GNOMON_READS_ONE(__uflow);
#define GNOMON_READS_ONE_OF_STDIN(name) \
  GNOMON_STREAM(name, int, (),          \
                return traced_input(    \
                    GNOMON_OWN_CALL(), stdin, [&] { return real_##name(); }, taken_one);)
GNOMON_READS_ONE_OF_STDIN(getchar);
GNOMON_READS_ONE_OF_STDIN(getchar_unlocked);

Taken taken_bytes(ssize_t result) { return {result < 0 ? 0 : result, result < 0}; }
GNOMON_STREAM(getline, ssize_t, (char** to, Bytes* room, Stream from),
              return traced_input(
                  GNOMON_OWN_CALL(), from, [&] { return real_getline(to, room, from); },
                  taken_bytes);)
#define GNOMON_READS_TO(name)                                                                  \
  GNOMON_STREAM(name, ssize_t, (char** to, Bytes* room, int end, Stream from),                 \
                return traced_input(                                                           \
                    GNOMON_OWN_CALL(), from, [&] { return real_##name(to, room, end, from); }, \
                    taken_bytes);)
GNOMON_READS_TO(getdelim);
GNOMON_READS_TO(__getdelim);

Taken taken_unknown(int result) { return {-1, result == EOF}; }
#define GNOMON_SCANS(name, via, parameters, from, ...)                                          \
  constinit NextSymbol<int(*) parameters> real_##name{#name};                                   \
  int traced_##name parameters {                                                                \
    std::va_list more;                                                                          \
    va_start(more, format);                                                                     \
    const int result = traced_input(                                                            \
        GNOMON_OWN_CALL(), from, [&] { return real_##via(__VA_ARGS__, more); }, taken_unknown); \
    va_end(more);                                                                               \
    return result;                                                                              \
  }                                                                                             \
  GNOMON_TRACED(HookGroup::io, traced_##name, real_##name)
#define GNOMON_SCANS_BY_LIST(name)                                                            \
  GNOMON_STREAM(name, int, (Stream from, const char* format, std::va_list more),              \
                return traced_input(                                                          \
                    GNOMON_OWN_CALL(), from, [&] { return real_##name(from, format, more); }, \
                    taken_unknown);)
GNOMON_SCANS_BY_LIST(vfscanf);
GNOMON_SCANS_BY_LIST(__isoc99_vfscanf);
GNOMON_SCANS_BY_LIST(__isoc23_vfscanf);
#define GNOMON_SCANS_STDIN_BY_LIST(name)                  \
  GNOMON_STREAM(                                          \
      name, int, (const char* format, std::va_list more), \
      return traced_input(                                \
          GNOMON_OWN_CALL(), stdin, [&] { return real_##name(format, more); }, taken_unknown);)
GNOMON_SCANS_STDIN_BY_LIST(vscanf);
GNOMON_SCANS_STDIN_BY_LIST(__isoc99_vscanf);
GNOMON_SCANS_STDIN_BY_LIST(__isoc23_vscanf);
GNOMON_SCANS(__isoc23_fscanf, __isoc23_vfscanf, (Stream from, const char* format, ...), from, from,
             format);
GNOMON_SCANS(__isoc23_scanf, __isoc23_vfscanf, (const char* format, ...), stdin, stdin, format);
GNOMON_SCANS(fscanf, vfscanf, (Stream from, const char* format, ...), from, from, format);
GNOMON_SCANS(scanf, vfscanf, (const char* format, ...), stdin, stdin, format);
GNOMON_SCANS(__isoc99_fscanf, __isoc99_vfscanf, (Stream from, const char* format, ...), from, from,
             format);
GNOMON_SCANS(__isoc99_scanf, __isoc99_vfscanf, (const char* format, ...), stdin, stdin, format);

// Formatted output by a descriptor.
#define GNOMON_PRINTS_TO(name, via, parameters, ...)                                            \
  constinit NextSymbol<int(*) parameters> real_##name{#name};                                   \
  int traced_##name parameters {                                                                \
    std::va_list more;                                                                          \
    va_start(more, format);                                                                     \
    const std::uint64_t since = time_before();                                                  \
    const int result = real_##via(__VA_ARGS__, more);                                           \
    record_io(GNOMON_OWN_CALL(), io_call(IoOperation::write, since, result, true), descriptor); \
    va_end(more);                                                                               \
    return result;                                                                              \
  }                                                                                             \
  GNOMON_TRACED(HookGroup::io, traced_##name, real_##name)
#define GNOMON_PRINTS_TO_BY_LIST(name, parameters, ...)                                           \
  GNOMON_STREAM(                                                                                  \
      name, int, parameters, const std::uint64_t since = time_before();                           \
      const int result = real_##name(__VA_ARGS__);                                                \
      record_io(GNOMON_OWN_CALL(), io_call(IoOperation::write, since, result, true), descriptor); \
      return result;)
GNOMON_PRINTS_TO_BY_LIST(vdprintf, (int descriptor, const char* format, std::va_list more),
                         descriptor, format, more);
GNOMON_PRINTS_TO_BY_LIST(__vdprintf_chk,
                         (int descriptor, int flag, const char* format, std::va_list more),
                         descriptor, flag, format, more);
GNOMON_PRINTS_TO(dprintf, vdprintf, (int descriptor, const char* format, ...), descriptor, format);
GNOMON_PRINTS_TO(__dprintf_chk, __vdprintf_chk, (int descriptor, int flag, const char* format, ...),
                 descriptor, flag, format);

}  // namespace
}  // namespace gnomon::collector
