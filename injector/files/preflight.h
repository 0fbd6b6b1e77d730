// Preflight: can the loader put libcollector.so into this program? Any thread.
#pragma once
#include <string>

#include "reader/base/result.h"

namespace gnomon::injector {

// `executable`: path of a program to be launched. The fault says why it cannot be recorded.
Result<void> check_program(const std::string& executable);

// The same of the file of a program that runs already; the fault is about "it".
Result<void> check_kind(const std::string& file);

// Returns true if the file is a program of this machine's kind, whatever loader it needs.
bool is_native(const std::string& file);

// A program whose user, group or capabilities change as the kernel executes it: the loader
// preloads nothing into that.
Result<void> check_privileges(const std::string& executable);

}  // namespace gnomon::injector
