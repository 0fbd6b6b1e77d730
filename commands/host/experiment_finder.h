// Finds the experiment that a run of this session wrote. Any thread.
#pragma once
#include <cstdint>
#include <span>
#include <string>

#include "reader/base/result.h"

namespace gnomon::commands {

struct WantedExperiment {
  std::uint64_t session = 0;    // compared because pids repeat
  std::uint64_t pid = 0;        // 0: of any process
  std::string executable = {};  // real path; empty: of any program
};

// Returns the path of the newest such experiment stem.er or stem.N.er, for any of the stems. Empty:
// there is none.
std::string find_experiment(std::span<const std::string> stems, const WantedExperiment& wanted);

// Whether the settings of an experiment say so. Fault: its header cannot be read.
Result<bool> records_allocations(const std::string& experiment);

}  // namespace gnomon::commands
