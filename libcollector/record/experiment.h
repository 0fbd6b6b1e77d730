// The directory of an experiment, and the recorder that writes to it. Normal context.
#pragma once
#include "libcollector/record/recorder.h"
#include "libcollector/record/settings.h"

namespace gnomon::collector {

// A recorder in memory that a fork child sees zeroed, with its control page, in a fresh directory
// stem.N.er. Null: `error` says why, and nothing is left behind.
Recorder* open_experiment(const Settings& settings, int& error);

// What does not hold even a header is no experiment: nothing of it is left behind.
void remove_experiment(const Recorder& begun);

}  // namespace gnomon::collector
