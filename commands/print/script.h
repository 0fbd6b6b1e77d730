// Commands from files and from the keyboard, a line each. The program's only thread.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "commands/base/command.h"
#include "commands/print/shell_host.h"

namespace gnomon::commands {

// Runs a command and prints what it answers; what a command that chooses says of its choice is
// printed only where reports are text. Returns its warnings.
Result<std::vector<std::string>> run_command(ShellHost& host, const Command& command,
                                             std::span<const std::string> words);

// Runs the command of a line, which may be empty or a comment. Warnings are printed on the standard
// error output.
Result<void> run_line(ShellHost& host, std::string_view line);

// Ends at the first line that fails; its number is in the fault.
Result<void> run_script(ShellHost& host, const std::string& path);

// The files .er.rc: the system's, the user's and that of the current directory, in which commands
// choose what reports show. A line that fails is said on the standard error output.
void run_defaults(ShellHost& host);

// Reads commands until their end, or `quit`: with a prompt, history and completion on a terminal.
// A command that fails is said, and the next one is read. Fault: a command failed that was not
// typed on a terminal.
Result<Answer> run_interactively(ShellHost& host);

}  // namespace gnomon::commands
