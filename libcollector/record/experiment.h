// The directory of an experiment, and the recorder that writes to it. Normal context.
#pragma once
#include "libcollector/record/recorder.h"
#include "libcollector/record/settings.h"

namespace gnomon::collector {

// Makes a directory stem.N.er and a recorder with its control page there, in memory that a fork
// child sees zeroed. pid: of the recorded process, as it numbers itself. On failure returns null,
// stores errno in `error` and leaves nothing behind.
Recorder* open_experiment(const Settings& settings, std::uint32_t pid, int& error);

// Removes an experiment that could not even get its header.
void remove_experiment(const Recorder& begun);

}  // namespace gnomon::collector
