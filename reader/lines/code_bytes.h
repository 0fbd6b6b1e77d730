// The instructions of a load object's file, as bytes. Any thread, one at a time.
#pragma once
#include <libelf.h>

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace gnomon::reader {

class CodeBytes {
 public:
  CodeBytes() = default;  // of a file that cannot be read
  // Copies the file's code.
  explicit CodeBytes(Elf* elf);
  CodeBytes(std::uint64_t begin, std::vector<unsigned char> bytes)
      : segments_{{begin, std::move(bytes)}} {}

  bool is_empty() const { return segments_.empty(); }
  // The bytes from an address of the file on, at most `count`.
  std::span<const unsigned char> at(std::uint64_t address, std::size_t count) const;
  // Where the call instruction begins whose last byte is at the address; the address itself where
  // no call ends there.
  std::uint64_t call_around(std::uint64_t last_byte) const;

 private:
  struct Segment {
    std::uint64_t begin;
    std::vector<unsigned char> bytes;
  };
  std::vector<Segment> segments_;
};

}  // namespace gnomon::reader
