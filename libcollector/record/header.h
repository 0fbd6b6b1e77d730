// header.json of the experiment. Normal context.
#pragma once
#include <cstddef>
#include <cstdint>

#include "libcollector/record/recorder.h"
#include "libcollector/record/settings.h"

namespace gnomon::collector {

// Writes header.json beside its place and renames it, so that a reader sees all of it or nothing.
// timer: what ticks, kThreadCpuTimer or kTaskClockEvent. scratch: room for the line. Fails
// with open_file and E2BIG if the line is longer than that.
FileError write_header(const Recorder& recorder, const Settings& settings, const char* timer,
                       int argc, char** argv, char* scratch, std::size_t scratch_bytes);

}  // namespace gnomon::collector
