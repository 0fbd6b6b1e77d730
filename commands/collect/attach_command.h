// `collector attach`: which process is meant. A debugger's command thread.
#pragma once
#include "commands/base/command.h"

namespace gnomon::commands {

// Attaches to the process of that number or name; with --waitfor to the next one of that name.
Result<Answer> run_attach(Host& host, const Invocation& call);

}  // namespace gnomon::commands
