// Where functions begin according to .eh_frame_hdr: the bounds of functions without symbols. Any
// thread, one at a time.
#pragma once
#include <cstdint>
#include <vector>

struct Elf;

namespace gnomon::reader {

// Addresses of the file, sorted. Empty: the file has no such table, or a damaged one.
std::vector<std::uint64_t> function_starts(Elf* elf);

// The same of the section's bytes; `address`: where the file says the section lies.
std::vector<std::uint64_t> function_starts(const void* section, std::size_t bytes,
                                           std::uint64_t address);

}  // namespace gnomon::reader
