// Where the program gnomon finds what belongs to it. Any thread.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

namespace gnomon::commands {

// Beside this program, as it was built or installed.
inline std::vector<std::string> library_folders() {
  std::error_code error;
  const auto here = std::filesystem::read_symlink("/proc/self/exe", error).parent_path();
  return {here / ".." / GNOMON_LIBRARY_FOLDER, here / "../lib", here};
}

}  // namespace gnomon::commands
