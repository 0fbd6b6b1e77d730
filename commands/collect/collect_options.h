// The options of `gnomon collect`, and what they say. Any thread.
#pragma once
#include <sys/types.h>

#include <span>
#include <string>
#include <vector>

#include "commands/host/collect_settings.h"
#include "reader/base/result.h"

namespace gnomon::commands {

struct CollectLine {
  CollectSettings settings;
  std::vector<std::string> program;  // its name and its arguments; empty: none
  pid_t process = 0;                 // one that runs already; 0: none
  bool is_over_existing = false;     // the experiment may replace one of that name
  bool is_trial = false;             // nothing runs
  bool is_stopped = false;           // the program, before it begins
  bool is_verbose = false;
  bool wants_version = false;
  bool is_end = false;                // of what records the process
  std::vector<std::string> warnings;  // sentences
};

// The words behind `gnomon collect`: options up to the program's name, then the program's own.
Result<CollectLine> read_collect_line(std::span<const std::string> words);

// Lines of at most 80 columns: the forms of the command, and its options.
std::string collect_syntax();
std::string collect_options_text();

}  // namespace gnomon::commands
