// log.jsonl of the experiment: events in the life of the program. Normal context of any process.
#pragma once
#include <cstdint>

#include "libcollector/format/control.h"
#include "libcollector/record/experiment_directory.h"

namespace gnomon::collector {

struct LogEvent {
  const char* name;
  std::uint64_t time;  // CLOCK_MONOTONIC, ns
  const char* detail = nullptr;
  std::uint64_t value = 0;  // of the detail
  const char* reason = nullptr;
};

// control: the page of the same experiment.
void write_log(const ExperimentDirectory& directory, format::ControlPage& control,
               const LogEvent& event);

}  // namespace gnomon::collector
