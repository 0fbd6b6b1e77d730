// What came of an attach, and how it is told. Any thread.
#pragma once
#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "reader/base/result.h"

namespace gnomon::injector {

struct AttachResult {
  std::string experiment;
  std::uint32_t threads = 0, blocking = 0, refused = 0, unbound = 0;
  std::string thread_maker;  // a library with a pthread_create of its own; empty: none
  std::string runtime;       // what it keeps from being shown; empty: nothing
  double held_ms = 0;        // the process, or one thread at a time, stood still for us
  bool others_ran = false;   // one thread at a time
  bool moved = false;        // the thread selected in the debugger is not where it was
  // Threads that have come to a stop of the user's meanwhile, as "#2 (breakpoint 1.1)".
  std::vector<std::string> arrived;
};

// Lines for the user. A fault says as well what that means for the process.
Result<std::string> text_of(const Result<AttachResult>& result, pid_t pid);
// A line on what the collector still has of a process whose recording has ended; empty: nothing.
std::string release_text(const Result<AttachResult>& result);

}  // namespace gnomon::injector
