// Preflight of an attach: breakpoints that a debugger left behind when it was killed. Reads the
// process's memory and files; any thread; stops nothing.
#pragma once
#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "reader/base/result.h"

namespace gnomon::injector {

// A breakpoint instruction (int3) in memory where the file has another byte.
struct LeftBreakpoint {
  std::uint64_t address;
  unsigned char original;  // the file's byte
  std::string object;      // its path
  std::uint64_t offset;    // in that file
};

// Returns those in the code through which the collector comes in, the loader's and libc's; of a
// debugger that lives they may be as well. Nothing where the kernel itself puts breakpoints into
// that code (uprobes), or where a file cannot be read or is another one.
std::vector<LeftBreakpoint> breakpoints_on_the_way(pid_t pid);

// What the first of them would do, about "it", and how to take it away.
Fault left_breakpoint(pid_t pid, const LeftBreakpoint& found);

}  // namespace gnomon::injector
