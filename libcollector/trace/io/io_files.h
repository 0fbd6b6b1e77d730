// What a program's descriptors stand for: a number and a name each time one is opened. In hooks:
// normal context, and signal handlers; no lock, no heap, no errno.
#pragma once
#include <cstdint>

#include "libcollector/trace/trace.h"

namespace gnomon::collector {

// Returns the number of what the descriptor stands for, and records its name where it is new; 0: it
// has none.
std::uint32_t file_of(TracedCall& traced, int descriptor);
// The same, 0 where nothing was recorded of it yet.
std::uint32_t known_file(int descriptor);
// The same of a path that no descriptor stands for; 0 also where there are too many.
std::uint32_t file_of_path(TracedCall& traced, const char* path);
// The same of a socket that is now connected to `peer` (sockaddr).
std::uint32_t file_of_peer(TracedCall& traced, int descriptor, const void* peer,
                           std::uint32_t bytes);
// The descriptor was closed, or stands for something else from now on.
void forget_file(int descriptor);

}  // namespace gnomon::collector
