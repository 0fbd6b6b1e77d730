// Programs that are built with -fsanitize. Any thread.
#pragma once
#include <string>

#include "injector/linkage.h"
#include "reader/base/result.h"

namespace gnomon::injector {

// The fault is about "it": the program.
Result<void> check_sanitizer(const Linkage& program);

// The library that has to come before all others in the program; "": none.
std::string first_library(const Linkage& program);

}  // namespace gnomon::injector
