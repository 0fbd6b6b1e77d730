// header.json and log.jsonl of the experiment. Normal context.
#pragma once
#include <cstddef>
#include <cstdint>

#include "libcollector/clock/thread_clock.h"
#include "libcollector/control/settings.h"
#include "libcollector/core/recorder.h"

namespace gnomon::collector {

// Written beside and renamed, so that a reader sees all of it or nothing. False: not written.
bool write_header(const Recorder& recorder, const Settings& settings, Timer timer, int argc,
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
