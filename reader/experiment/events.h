// Events of an experiment, summed per call stack: each event is touched once. Any thread.
#pragma once
#include <cstdint>
#include <vector>

#include "reader/base/interrupt.h"
#include "reader/base/result.h"
#include "reader/base/units.h"
#include "reader/experiment/experiment.h"

namespace gnomon::reader {

struct StackSum {
  Nanoseconds time;
  std::uint64_t samples = 0;
};

struct ClockSums {
  std::vector<StackSum> by_stack;  // indexed by StackId
  StackSum total;
};

// Reads the file `profile`. Damage is a fault, never summed. A record that its writer has begun and
// not completed is not there yet.
Result<ClockSums> sum_clock_samples(const Experiment& experiment, const Interrupt& interrupt = {});

// An experiment and its events, as every report begins with.
struct Recording {
  Experiment experiment;
  ClockSums events;
};
Result<Recording> open_recording(const std::string& directory, const Interrupt& interrupt);

}  // namespace gnomon::reader
