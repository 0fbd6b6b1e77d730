// The arguments of this process, as the kernel has them. Normal context.
#pragma once

namespace gnomon::collector {

struct CommandLine {
  int count = 0;
  char** words = nullptr;  // ended by a null pointer
};

// Returns the arguments in the collector's own memory, valid until the next call. Those that do not
// fit are left out.
CommandLine command_line();

}  // namespace gnomon::collector
