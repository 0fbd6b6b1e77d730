// Runtimes that generate code while the program runs, recognised by a load object. Any thread.
#pragma once
#include <sys/types.h>

namespace gnomon::injector {

struct Runtime {
  const char* file;  // the end of its load object's path
  const char* note;  // what a recording does not show, and what does
  const char* name;
  int signal;               // one that it raises and handles as it works
  const char* signal_name;  // as `process handle` takes it
};

// Returns nullptr if the process has none of the known runtimes.
const Runtime* runtime_in(pid_t pid);

}  // namespace gnomon::injector
