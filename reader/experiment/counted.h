// What an experiment has counted besides time: its counters and what was watched, as the files
// counters.jsonl and watches.jsonl say. Any thread.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "reader/base/units.h"
#include "reader/experiment/event.h"

namespace gnomon::reader {

// What gnomon-sampler has said last of an event that counts. lost: samples for which a ring had no
// room. throttled: how often the kernel took no samples for a moment.
struct CountFigures {
  std::uint64_t counted = 0;
  Nanoseconds enabled, running;  // less: the event had to share a counter of the processor
  std::uint64_t lost = 0, throttled = 0;
};

struct CounterLine {
  std::uint8_t kind = 0;  // of its events
  std::string name, title;
  std::uint64_t interval = 0;
  std::uint64_t megahertz = 0;  // its events are time; 0: counts
  bool is_user_only = false;    // the kernel did not allow to count in the kernel
  CountFigures figures;
};

struct WatchLine {
  std::uint32_t number = 0;
  bool is_call = false, has_reads = false;
  std::string name;
  std::uint64_t address = 0, size = 0, interval = 1;
  Nanoseconds hit_cost;              // how long a hit held its thread; 0: not known
  std::uint64_t begin = 0, end = 0;  // CLOCK_MONOTONIC, ns; 0: it has not ended
  CountFigures figures;
};

// Of a recording that goes on, as of now. A damaged line is left out.
std::vector<CounterLine> counters_of(const std::string& directory, std::uint64_t session);
std::vector<WatchLine> watches_of(const std::string& directory, std::uint64_t session);

// header.json has one event kind for all counters. Replaces it by one for each, of the same layout,
// with the counter's name and id.
void add_counters(std::vector<EventLayout>& events, const std::vector<CounterLine>& counters);

}  // namespace gnomon::reader
