// What the launch asked for, read from the environment and removed from it. Normal context.
#pragma once
#include <cstdint>

#include "libcollector/core/handed_directory.h"
#include "libcollector/core/recorder.h"

namespace gnomon::collector {

struct Settings {
  std::uint64_t session = 0;
  std::uint64_t interval_ns = 0;
  std::uint64_t hold_ns = 0;  // how long the program waits for the debugger at most; 0: not at all
  char stem[Recorder::kPathBytes] = {};  // /directory/test of test.N.er
  char executable[Recorder::kPathBytes] = {};
  int handed = -1;                        // descriptor of the experiment's directory; -1: none
  char directory[kHandedPathBytes] = {};  // the experiment; empty: it is to be made by stem
  std::uint32_t seen_pid = 0;             // this process's number in seen_namespace; 0: not known
  char seen_namespace[40] = {};
};

// False: this process is not the one to collect from; its environment is as it was, because a shell
// or wrapper that runs the program hands it on.
bool read_settings(Settings& settings);

// Takes our variables and our entry of LD_PRELOAD out of the environment, in place.
void clean_environment();

}  // namespace gnomon::collector
