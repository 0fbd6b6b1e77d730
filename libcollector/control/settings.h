// What the launch asked for, read from the environment and removed from it. Normal context.
#pragma once
#include <cstdint>

#include "libcollector/core/recorder.h"

namespace gnomon::collector {

struct Settings {
  std::uint64_t session = 0;
  std::uint64_t interval_ns = 0;
  std::uint64_t hold_ns = 0;  // how long the program waits for the debugger at most; 0: not at all
  char stem[Recorder::kPathBytes] = {};  // /directory/test of test.N.er
  char executable[Recorder::kPathBytes] = {};
};

// False: this process is not the one to collect from; its environment is as it was, because a shell
// or wrapper that runs the program hands it on.
bool read_settings(Settings& settings);

// Takes our variables and our entry of LD_PRELOAD out of the environment, in place.
void clean_environment();

}  // namespace gnomon::collector
