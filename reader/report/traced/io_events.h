// Calls that did I/O, as they were recorded. Any thread, one at a time.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <unordered_map>

#include "libcollector/format/events.h"
#include "reader/analysis/analysis.h"
#include "reader/base/result.h"

namespace gnomon::reader {

struct RecordedIo {
  format::IoOperation operation{};
  std::uint32_t error = 0;            // errno; 0: none
  std::uint64_t bytes = 0, time = 0;  // moved; ns
  std::uint32_t file = 0;             // 0: of none, or of several
  std::uint32_t stack = 0;
};

// What a descriptor stood for from when it was opened until it was closed.
struct OpenedFile {
  std::string name;
  std::int32_t descriptor = -1;  // -1: it could not be opened
};
using OpenedFiles = std::unordered_map<std::uint32_t, OpenedFile>;

// Calls visit(io) for each that the span and the filter contain, and returns what they were about.
// Fault: damage, or the user interrupted.
Result<OpenedFiles> each_io(Part& part, const Interrupt& interrupt,
                            const std::function<void(const RecordedIo&)>& visit);

struct IoAmount {
  std::uint64_t calls = 0, bytes = 0, time = 0;  // ns
  void add(const RecordedIo& io) {
    ++calls;
    bytes += io.bytes;
    time += io.time;
  }
};
inline IoAmount& operator+=(IoAmount& sum, const IoAmount& other) {
  sum.calls += other.calls;
  sum.bytes += other.bytes;
  sum.time += other.time;
  return sum;
}
// Calls that have failed count as that alone.
struct IoSum {
  IoAmount reads, writes, syncs, opens, waits, others, failed;
  void add(const RecordedIo& io);
  IoSum& operator+=(const IoSum& other);
  std::uint64_t time() const {
    return reads.time + writes.time + syncs.time + opens.time + waits.time + others.time +
           failed.time;
  }
};

// Fault: says that no I/O was recorded.
Result<void> has_io(const Analysis& analysis);

}  // namespace gnomon::reader
