// Recording a program that the collector cannot come into: gnomon-sampler does it alone, from
// outside. Any thread; stops nothing.
#pragma once
#include <sys/types.h>

#include <string>
#include <vector>

#include "injector/base/settings.h"
#include "reader/base/result.h"

namespace gnomon::injector {

// Returns true if the kernel may be the clock and nothing is wanted that signals to the program
// bring about.
bool may_record_from_outside(const Settings& settings);

// Why a program in which the collector cannot come, because of `obstacle`, is not recorded at all
// with these settings.
Fault no_way_in(const Settings& settings, const Fault& obstacle);

// Returns true if the collector cannot come into the process later either: it is linked statically,
// confined, or sees other files or processes.
bool has_lasting_obstacle(pid_t pid);

struct OutsideProgram {
  pid_t pid;
  std::string executable;          // real path, as /proc/PID/exe names it
  std::vector<std::string> words;  // its arguments, its name first
  bool is_to_execute = false;      // the process is still to execute it, and is this one
};
// A process that runs.
OutsideProgram program_of(pid_t pid);

// Starts gnomon-sampler, which records the program until it ends, executes another one, or the
// recording is ended. obstacle: why no collector is in it. Returns the experiment; a fault says why
// neither way is possible.
Result<std::string> record_from_outside(const Settings& settings, const OutsideProgram& program,
                                        const Fault& obstacle);

}  // namespace gnomon::injector
