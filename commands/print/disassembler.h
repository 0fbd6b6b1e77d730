// Disassembly for the program gnomon, by liblldb. The program's only thread.
#pragma once
#include "reader/base/result.h"
#include "reader/lines/disassembler.h"

namespace gnomon::commands {

// Loads liblldb, and the plugin's part that uses it, when called first. Fault: says which of them
// is missing.
Result<reader::Disassembler*> load_disassembler();

}  // namespace gnomon::commands
