// Programs whose code is made as they run, by a runtime that a load object tells. Any thread.
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

// nullptr: none of those that are known is in the process.
const Runtime* runtime_in(pid_t pid);

}  // namespace gnomon::injector
