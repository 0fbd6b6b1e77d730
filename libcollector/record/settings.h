// What a recording was asked for, at launch or at attach. Plain data, any context.
#pragma once
#include <cstdint>

#include "libcollector/record/experiment_directory.h"

namespace gnomon::collector {

struct Settings {
  std::uint64_t session = 0;
  std::uint64_t interval_ns = 0;
  std::uint64_t hold_ns = 0;  // the program waits at most so long for the debugger; 0: not held
  char stem[ExperimentDirectory::kPathBytes] = {};  // /directory/test of test.N.er
  char executable[ExperimentDirectory::kPathBytes] = {};
  int handed = -1;             // descriptor of the experiment's directory; -1: made from stem
  std::uint32_t seen_pid = 0;  // this process's number in seen_namespace; 0: not known
  char seen_namespace[40] = {};
};

}  // namespace gnomon::collector
