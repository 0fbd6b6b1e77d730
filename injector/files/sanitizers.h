// Programs built with -fsanitize. Any thread.
#pragma once
#include <string>

#include "injector/files/linkage.h"
#include "reader/base/result.h"

namespace gnomon::injector {

// Returns a Fault about "it", the program.
Result<void> check_sanitizer(const Linkage& program);

// Returns the library that must come before all others in the program, or "".
std::string first_library(const Linkage& program);

}  // namespace gnomon::injector
