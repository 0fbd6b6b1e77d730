// A file mapped for reading, as long as it was when it was opened. Any thread.
#pragma once
#include <cstddef>
#include <span>
#include <string>

#include "reader/base/result.h"

namespace gnomon::reader {

class MappedFile {
 public:
  static Result<MappedFile> open(const std::string& path);
  MappedFile() = default;
  MappedFile(MappedFile&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}
  MappedFile& operator=(MappedFile&& other) noexcept {
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~MappedFile();

  std::span<const std::byte> bytes() const { return bytes_; }

 private:
  std::span<const std::byte> bytes_;
};

// The whole of a small text file.
Result<std::string> read_text(const std::string& path);

}  // namespace gnomon::reader
