// What can follow on a line of commands. LLDB's command thread, or the program's only one.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "commands/host/host.h"

namespace gnomon::commands {

struct Completion {
  std::vector<std::string> candidates;  // whole words
  std::string insert;  // what all of them have in common behind what is typed; may be empty
};

// line: what stands before the cursor: the command's name and its words. for_print: the commands of
// `gnomon print`, else those of LLDB. Names commands, options, functions that were sampled, metrics
// and experiments.
Completion completion_of(Host& host, std::string_view line, bool for_print);

}  // namespace gnomon::commands
