// The path of the program's own file. Normal context.
#pragma once
#include <cstddef>

namespace gnomon::collector {

// Fills `path`, without what the kernel adds for a file that has been removed. False and "": not
// known.
bool executable_path(char* path, std::size_t size);

}  // namespace gnomon::collector
