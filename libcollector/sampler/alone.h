// An experiment that gnomon-sampler writes alone, as no collector is in the process. In
// gnomon-sampler.
#pragma once
#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "libcollector/record/recorder.h"
#include "libcollector/record/settings.h"

namespace gnomon::sampler {

struct Alone {
  std::string stem;                // /directory/test of test.N.er
  std::string why;                 // no collector is in the process: a clause
  bool is_to_execute;              // the process is still to execute the program
  std::string executable;          // as /proc/PID/exe will name it, or names it
  std::vector<std::string> words;  // the program's arguments, its name first
};

// Makes the experiment of process `pid`, whose own number that is, with its header. Returns null
// and sets `fault` to a clause that says why not, with nothing left behind.
collector::Recorder* make_experiment(const Alone& alone, std::uint64_t session,
                                     const format::SettingValues& values, pid_t pid,
                                     std::uint32_t own_number, std::string& fault);
// Removes an experiment that holds no recording.
void remove_experiment(collector::Recorder& made);

}  // namespace gnomon::sampler
