// The names of source files, of all load objects. Any thread, one at a time.
#pragma once
#include <filesystem>
#include <string>
#include <unordered_map>
#include <vector>

#include "reader/base/units.h"
#include "reader/lines/source_place.h"

namespace gnomon::reader {

class SourceFiles {
 public:
  // The same number for the same path.
  SourceFileId number(const char* name) {
    const std::string path = std::filesystem::path(name).lexically_normal().string();
    const auto [at, is_new] =
        numbers_.try_emplace(path, SourceFileId{static_cast<std::uint32_t>(paths_.size())});
    if (is_new) paths_.push_back(path);
    return at->second;
  }
  // Absolute where the compiler was told its directory.
  const std::string& path(SourceFileId id) const { return paths_[index(id)]; }
  std::size_t size() const { return paths_.size(); }

 private:
  std::vector<std::string> paths_;
  std::unordered_map<std::string, SourceFileId> numbers_;
};

}  // namespace gnomon::reader
