// Checks the file libcollector.so before a process loads it. Any thread.
#pragma once
#include <string>

namespace gnomon::injector {

// Returns true if the file is a complete libcollector.so: mapping a truncated one would end the
// process.
bool is_collector(const std::string& path);

}  // namespace gnomon::injector
