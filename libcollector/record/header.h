// header.json and log.jsonl of the experiment. Normal context.
#pragma once
#include <cstddef>
#include <cstdint>

#include "libcollector/record/recorder.h"
#include "libcollector/record/settings.h"

namespace gnomon::collector {

// Writes header.json beside its place and renames it, so that a reader sees all of it or nothing.
// timer: what ticks, kThreadCpuTimer or kTaskClockEvent. scratch: room for the line. Returns 0
// or errno.
int write_header(const Recorder& recorder, const Settings& settings, const char* timer, int argc,
                 char** argv, char* scratch, std::size_t scratch_bytes);

struct LogEvent {
  const char* name;
  std::uint64_t time;  // CLOCK_MONOTONIC, ns
  const char* detail = nullptr;
  std::uint64_t value = 0;  // of the detail
};

// Appends an event in the life of the program.
void write_log(const Recorder& recorder, const LogEvent& event);

}  // namespace gnomon::collector
