// Reads pieces of a file into memory of its own: a file that is cut short meanwhile is an error,
// never a signal. Any thread.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include "reader/base/result.h"

namespace gnomon::reader {

class File {
 public:
  // Fault: there is no such file, or it is not a regular one.
  static Result<File> open(const std::string& path);
  File() = default;
  File(File&& other) noexcept
      : descriptor_(std::exchange(other.descriptor_, -1)), path_(std::move(other.path_)) {}
  File& operator=(File&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    std::swap(path_, other.path_);
    return *this;
  }
  ~File();

  int descriptor() const { return descriptor_; }
  // Hands the descriptor over to the caller, who closes it.
  int release() { return std::exchange(descriptor_, -1); }
  // Bytes that the file takes on the disk: fewer than its size where it has holes.
  std::uint64_t bytes_on_disk() const;
  // Bytes, now; it may grow.
  std::uint64_t size() const;
  // Fills `to` from `offset` on. Returns the number of bytes read: fewer only at the end of the
  // file.
  Result<std::size_t> read(std::uint64_t offset, std::span<std::byte> to) const;

 private:
  int descriptor_ = -1;
  std::string path_;
};

// A text file. Fault: it is larger than 16 MiB.
Result<std::string> read_text(const std::string& path);

// Returns true if there is nothing at `path`.
bool is_missing(const std::string& path);

}  // namespace gnomon::reader
