// `gnomon print`: reports in the shell. The program's only thread.
#pragma once
#include <string>
#include <vector>

#include "commands/base/command.h"

namespace gnomon::commands {

// words: those behind `print`. What the commands answer is printed as they run; the answer has the
// warnings of all of them.
Result<Answer> print(const std::vector<std::string>& words);
// Of `gnomon help print`.
std::string print_help();

}  // namespace gnomon::commands
