// The metrics of counters, which experiments name. LLDB's command thread, or the shell's.
#pragma once
#include <span>
#include <string>

#include "commands/host/host.h"

namespace gnomon::commands {

// Gives the counters of the experiments that a command is about metrics, so that its words can name
// them before anything is read.
void know_counters(Host& host, std::span<const std::string> words);

}  // namespace gnomon::commands
