// `gnomon blocked -P PID`: what each thread of a running process waits for, without a debugger. The
// program's only thread.
#pragma once
#include <span>
#include <string>

#include "commands/base/command.h"

namespace gnomon::commands {

// words: what follows `blocked`. Stops no thread.
Result<Answer> blocked_process(std::span<const std::string> words);

}  // namespace gnomon::commands
