// An ELF file in memory, for libdw to read. Any thread.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace gnomon::reader {

struct MemorySection {
  std::string name;
  std::string bytes;
};

class MemoryElf {
 public:
  // machine: as in ELF headers; 64 bits, the lowest byte first.
  MemoryElf(std::uint16_t machine, const std::vector<MemorySection>& sections);
  MemoryElf(const MemoryElf&) = delete;
  MemoryElf& operator=(const MemoryElf&) = delete;
  ~MemoryElf();

  // -1: there is no memory for the file.
  int descriptor() const { return descriptor_; }
  // Leads to the file for as long as this object lives, in this process alone.
  std::string path() const { return "/proc/self/fd/" + std::to_string(descriptor_); }

 private:
  int descriptor_ = -1;
};

}  // namespace gnomon::reader
