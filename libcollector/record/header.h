// header.json of the experiment. Normal context.
#pragma once
#include <cstddef>
#include <cstdint>

#include "libcollector/record/recorder.h"
#include "libcollector/record/settings.h"

namespace gnomon::collector {

// Whom the experiment is about.
struct Recorded {
  const char* process;  // its directory: "/proc/self" or "/proc/PID"
  std::uint32_t pid;    // as it numbers itself
  int argc;
  char** argv;
  const char* timer;    // what ticks, kThreadCpuTimer or kTaskClockEvent
  const char* outside;  // a clause: why the collector is not in it; null: it is
};

// Writes header.json beside its place and renames it, so that a reader sees all of it or nothing.
// scratch: room for the line. Fails with open_file and E2BIG if the line is longer than that.
FileError write_header(const Recorder& recorder, const Settings& settings, const Recorded& recorded,
                       char* scratch, std::size_t scratch_bytes);

}  // namespace gnomon::collector
