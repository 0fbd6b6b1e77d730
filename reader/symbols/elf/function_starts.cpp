// Where functions begin according to .eh_frame_hdr (Linux Standard Base 5.0, Core, 10.6.2). Any
// thread, one at a time.
#include "reader/symbols/elf/function_starts.h"

#include <gelf.h>

#include <algorithm>
#include <cstring>

namespace gnomon::reader {
namespace {

// Encodings (DW_EH_PE_*) that every linker writes; a table in another one is not read.
constexpr unsigned char kPcRelative4 = 0x1b, kUnsigned4 = 0x03, kTableRelative4 = 0x3b;

struct TableHead {
  unsigned char version, frame_encoding, count_encoding, table_encoding;
  std::int32_t frame;
  std::uint32_t count;
};
struct TableEntry {
  std::int32_t function, description;  // from the section's begin
};

}  // namespace

std::vector<std::uint64_t> function_starts(const void* section, std::size_t bytes,
                                           std::uint64_t address) {
  TableHead head{};
  if (bytes < sizeof head) return {};
  std::memcpy(&head, section, sizeof head);
  if (head.version != 1 || head.frame_encoding != kPcRelative4 ||
      head.count_encoding != kUnsigned4 || head.table_encoding != kTableRelative4)
    return {};
  constexpr std::size_t kMost = 1 << 24;
  const std::size_t count =
      std::min({std::size_t{head.count}, (bytes - sizeof head) / sizeof(TableEntry), kMost});
  const char* at = static_cast<const char*>(section) + sizeof head;
  std::vector<std::uint64_t> starts;
  starts.reserve(count);
  for (std::size_t i = 0; i < count; ++i, at += sizeof(TableEntry)) {
    TableEntry entry{};
    std::memcpy(&entry, at, sizeof entry);
    starts.push_back(address + static_cast<std::uint64_t>(std::int64_t{entry.function}));
  }
  std::sort(starts.begin(), starts.end());
  return starts;
}

std::vector<std::uint64_t> function_starts(Elf* elf) {
  std::size_t names = 0;
  if (elf_getshdrstrndx(elf, &names) != 0) return {};
  for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf, section));) {
    GElf_Shdr header;
    if (!gelf_getshdr(section, &header) || header.sh_type == SHT_NOBITS) continue;
    const char* name = elf_strptr(elf, names, header.sh_name);
    if (!name || std::strcmp(name, ".eh_frame_hdr") != 0) continue;
    const Elf_Data* data = elf_rawdata(section, nullptr);
    return data && data->d_buf ? function_starts(data->d_buf, data->d_size, header.sh_addr)
                               : std::vector<std::uint64_t>{};
  }
  return {};
}

}  // namespace gnomon::reader
