// `gnomon collect`: records without a debugger a program that it executes, or a process that runs.
// The program's only thread.
#pragma once
#include <span>
#include <string>

#include "commands/base/command.h"
#include "commands/collect/collect_options.h"
#include "injector/base/settings.h"

namespace gnomon::commands {

// words: what follows `collect`. Returns what to print at the end; does not return if it executes a
// program.
Result<Answer> collect(std::span<const std::string> words);

// Records the process of the line until it is told to end, or it ends, or the duration is over.
Result<Answer> collect_process(const CollectLine& line, const injector::Settings& settings);
// Ends what another debugger or another of these programs began.
Result<Answer> end_collecting(pid_t pid);

// The forms, the options, the default set-up and the ranges of this machine.
std::string collect_help();

}  // namespace gnomon::commands
