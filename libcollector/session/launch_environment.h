// The environment by which a launcher asks for a recording. Normal context.
#pragma once
#include "libcollector/record/settings.h"

namespace gnomon::collector {

// Reads the launcher's variables. Returns false if this process is not the one to record; its
// environment then stays as it is, because a shell or wrapper hands it on to the program.
bool read_launch_environment(Settings& settings);

// Takes the launcher's variables and the collector's entry of LD_PRELOAD out of the environment, in
// place.
void clean_environment();

}  // namespace gnomon::collector
