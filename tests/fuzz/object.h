// All that is read of an ELF file. Any thread.
#pragma once
#include <string>

namespace gnomon::fuzz {

// As the reader does for the names of functions, and the injector before a program is launched.
void read_object(const std::string& path);

}  // namespace gnomon::fuzz
