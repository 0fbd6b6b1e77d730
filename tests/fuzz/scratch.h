// A directory of this process in memory, for what a fuzzer makes up. Any thread.
#pragma once
#include <stdlib.h>

#include <filesystem>
#include <string>

namespace gnomon::fuzz {

class Scratch {
 public:
  Scratch() {
    char name[] = "/dev/shm/gnomon-fuzz-XXXXXX";
    if (mkdtemp(name)) path_ = name;
  }
  ~Scratch() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace gnomon::fuzz
