// The file that a command line executes, and the program that then runs. Any thread.
#pragma once
#include <string>

#include "reader/base/result.h"

namespace gnomon::injector {

struct ProgramFile {
  std::string path;        // what to execute, by execve(2)
  std::string executable;  // real path of the program that then runs: a script's interpreter
  bool is_text = false;    // a script without a first line "#!": /bin/sh has to be executed for it
};

// Finds a program as execvp(3) does, a script's interpreter as the kernel and env(1) do. Fault: it
// cannot be executed.
Result<ProgramFile> find_program(const std::string& word);

}  // namespace gnomon::injector
