// `gnomon collect`: records a process that runs, without a debugger. The program's only thread.
#pragma once
#include <span>
#include <string>

#include "reader/base/result.h"

namespace gnomon::commands {

// `words`: what follows the verb. Prints how it begins; returns, with how it ended, when the time
// is over, the process has ended or SIGINT, SIGTERM or SIGHUP comes.
Result<std::string> collect(std::span<const std::string> words);

}  // namespace gnomon::commands
