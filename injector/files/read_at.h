// Values in a file at an offset. Any thread.
#pragma once
#include <cstdint>
#include <fstream>

namespace gnomon::injector {

// Returns false if the file ends before, or cannot be read.
template <typename T>
bool read_at(std::ifstream& file, std::uint64_t offset, T& into) {
  return static_cast<bool>(file.seekg(static_cast<std::streamoff>(offset))
                               .read(reinterpret_cast<char*>(&into), sizeof into));
}

}  // namespace gnomon::injector
