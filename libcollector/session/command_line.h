// The arguments of this process, as the kernel has them. Normal context.
#pragma once

namespace gnomon::collector {

struct CommandLine {
  int count = 0;
  char** words = nullptr;  // ended by a null pointer
};

// In memory of the collector's own, valid until the next call. What does not fit is not there.
CommandLine command_line();

}  // namespace gnomon::collector
