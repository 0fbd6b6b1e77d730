// Preflight of a launch: can the loader put libcollector.so into this program? Any thread.
#pragma once
#include <string>

#include "reader/base/result.h"

namespace gnomon::injector {

// `executable`: path of the program. The fault says why it cannot be recorded.
Result<void> check_program(const std::string& executable);

}  // namespace gnomon::injector
