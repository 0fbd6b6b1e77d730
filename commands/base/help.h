// What the command table says of itself: in the shell, in LLDB, in docs/commands.md. Any thread.
#pragma once
#include <string>
#include <string_view>

#include "commands/base/command.h"

namespace gnomon::commands {

// "[--format text|json|csv] [EXPERIMENT]": what follows the name.
std::string syntax(const Command& command);

// What LLDB shows below summary and syntax. A paragraph a line: LLDB breaks them.
std::string long_help(const Command& command);

// Faults name `help` as it is typed behind a prompt; prefix: what stands before it here, "gnomon ".
std::string with_help_of(std::string sentence, std::string_view prefix);

// "Gnomon 0.1.0", a line.
std::string version_text();

// The list of commands, or the help of one; lines of at most 80 columns.
std::string help_text();
// Of every command of that name: LLDB and `gnomon print` may each have one.
std::string help_text(std::string_view name);

// A paragraph as lines of at most 80 columns that begin with `indent`; the first one behind `lead`.
std::string wrapped(std::string_view paragraph, const std::string& lead, const std::string& indent);

// docs/commands.md
std::string help_markdown();

}  // namespace gnomon::commands
