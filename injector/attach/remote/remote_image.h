// A load object of a running process, read from the dynamic tables in its memory, so that its file
// may be gone or in another mount namespace. Any thread; stops nothing.
#pragma once
#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <vector>

namespace gnomon::injector {

struct AddressRange {
  std::uint64_t begin = 0, end = 0;
  bool contains(std::uint64_t address) const { return address >= begin && address < end; }
};

// Every address is validated by the read that uses it.
class RemoteImage {
 public:
  // base: address of its first page. Returns nothing if that is not a 64-bit x86 load object with a
  // hash table.
  static std::optional<RemoteImage> at(pid_t pid, std::uint64_t base);
  // Returns all versions of a function that the object defines: the originals, also where the
  // collector has bound a replacement.
  std::vector<AddressRange> functions(const char* name) const;
  // Returns the first of them, or 0.
  std::uint64_t function(const char* name) const;
  // Returns the address of data of that name, or 0.
  std::uint64_t data(const char* name) const;
  AddressRange range() const { return {base_, end_}; }

 private:
  bool read_dynamic(std::uint64_t address, std::uint64_t bytes);
  std::vector<AddressRange> defined(unsigned type, const char* name) const;
  std::optional<AddressRange> at_index(std::uint32_t index, unsigned type, const char* name) const;
  std::vector<AddressRange> by_gnu_hash(unsigned type, const char* name) const;
  std::vector<AddressRange> by_hash(unsigned type, const char* name) const;
  // glibc relocates these words in memory, other loaders do not.
  std::uint64_t relocated(std::uint64_t value) const {
    return value < base_ ? value + bias_ : value;
  }

  pid_t pid_ = 0;
  std::uint64_t base_ = 0, end_ = 0, bias_ = 0;
  std::uint64_t symbols_ = 0, names_ = 0, gnu_hash_ = 0, hash_ = 0;
};

// Returns the images of libcollector.so in the process: more than one if its file was replaced
// while the process ran.
std::vector<RemoteImage> collectors_in(pid_t pid);

}  // namespace gnomon::injector
