// The experiment's directory when it was handed to this process as a descriptor. The program may
// close the descriptor or reuse its number, so the directory's identity is compared before each
// use. Any context; raw system calls.
#pragma once
#include <cstdint>

namespace gnomon::collector {

inline constexpr std::uint32_t kHandedPathBytes = 32;

// Takes `descriptor` over, in place of an earlier one, and stores the path by which this process
// reaches it. Returns false if it is not a directory's descriptor.
bool take_directory(int descriptor, char (&path)[kHandedPathBytes]);
// Returns true if the descriptor still is that of the directory, or if none was handed over.
bool is_directory_there();
void give_directory_back();

}  // namespace gnomon::collector
