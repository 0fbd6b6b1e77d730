// Executes a program in place of this one, with the collector. A program of one thread.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "injector/base/settings.h"
#include "injector/launch/program_file.h"

namespace gnomon::injector {

struct Execution {
  Settings settings;
  ProgramFile program;
  std::vector<std::string> words;  // its arguments, its name first
  bool is_stopped = false;         // by SIGSTOP before it records, so that a debugger can attach
  std::string prefix;              // of each line that tells the user something
  // Makes text fit for a terminal, which may have names of files in it.
  std::string (*plain)(std::string_view);
  std::optional<Fault> obstacle;  // why gnomon-sampler is to record it alone
};

// Returns only if the program was not executed. A process of its own, not a child of the program,
// answers the collector, writes on standard error where the recording goes, or why there is none,
// and ends.
Fault execute_recorded(const Execution& execution);

}  // namespace gnomon::injector
