// A span: the part of a recording whose events a report counts. And the choice of a span, as the
// options --since and --between express it. Any thread.
#pragma once
#include <cstdint>
#include <string>

#include "reader/base/result.h"

namespace gnomon::reader {

struct Experiment;
struct Instants;

// The events after `begin` up to `end`: CLOCK_MONOTONIC, ns.
struct Span {
  static constexpr std::uint64_t kOpen = ~0ull;
  std::uint64_t begin = 0, end = kOpen;

  bool is_whole() const { return begin == 0 && end == kOpen; }
  bool contains(std::uint64_t time) const { return time > begin && time <= end; }
  bool operator==(const Span&) const = default;
};

// What the options --since and --between say.
struct SpanChoice {
  enum class Kind { whole, since_stop, since_sample, since_time, between };
  Kind kind = Kind::whole;
  std::string from, to;         // names of samples
  std::uint64_t length_ns = 0;  // of since_time
};

// What a recording is doing, as far as the last instants of it depend on that.
enum class Progress { runs, stopped, over };

// As the kernel shows it: a process that somebody traces or has stopped is stopped.
Progress progress_of(const Experiment& experiment);

// Finds the span. since_stop: while the program is stopped, from the stop before the latest one
// (the beginning of the recording, if there is but one), else from the latest stop. A sample's name
// is its label or its event, and the newest of that name counts; what is no name may be the number
// of a sample, from 1. since_time: counted back from the latest stop while the program is stopped,
// else from the end of the recording, or from now. Faults: no stop, no sample of that name, a wrong
// order.
Result<Span> find_span(const SpanChoice& choice, const Experiment& experiment,
                       const Instants& instants, Progress progress);

// "from 1.234 s (sample a) to 2.345 s (sample b)", in seconds since the recording began.
std::string span_text(const Span& span, const Experiment& experiment, const Instants& instants);

}  // namespace gnomon::reader
