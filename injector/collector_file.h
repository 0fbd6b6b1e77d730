// The file libcollector.so, before a process is to load it. Any thread.
#pragma once
#include <string>

namespace gnomon::injector {

// Whether it is one, and whole: mapped from a file cut short it would end the process.
bool is_collector(const std::string& path);

}  // namespace gnomon::injector
