// The experiment's directory, when this process has it as a descriptor: the program may close that,
// or open another file by its number. Any context; raw system calls.
#pragma once
#include <cstdint>

namespace gnomon::collector {

inline constexpr std::uint32_t kHandedPathBytes = 32;

// `descriptor` is ours from now on, instead of an earlier one. Its path for this process is stored.
// False: it is none.
bool take_directory(int descriptor, char (&path)[kHandedPathBytes]);
// True if there is none, too.
bool is_directory_there();
void give_directory_back();

}  // namespace gnomon::collector
