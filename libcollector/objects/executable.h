// The path of the program's own file. Normal context.
#pragma once
#include <cstddef>

namespace gnomon::collector {

// Stores the path, without the " (deleted)" that the kernel adds for a removed file. Returns false
// and stores "" if it is not known.
bool executable_path(char* path, std::size_t size);

}  // namespace gnomon::collector
