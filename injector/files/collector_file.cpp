// Checks the file libcollector.so before a process loads it. Any thread.
#include "injector/files/collector_file.h"

#include <elf.h>

#include <cstring>
#include <fstream>
#include <iterator>

#include "libcollector/format/attach.h"

namespace gnomon::injector {

// The section headers end the file: if they are there, the file is complete.
bool is_collector(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  Elf64_Ehdr header{};
  if (bytes.size() < sizeof header) return false;
  std::memcpy(&header, bytes.data(), sizeof header);
  const std::string name = std::string(1, '\0') + format::kAttachFunction + '\0';
  return std::memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 && header.e_machine == EM_X86_64 &&
         header.e_shoff != 0 && header.e_shoff < bytes.size() &&
         bytes.size() - header.e_shoff >= std::size_t{header.e_shnum} * header.e_shentsize &&
         bytes.find(name) != std::string::npos;
}

}  // namespace gnomon::injector
