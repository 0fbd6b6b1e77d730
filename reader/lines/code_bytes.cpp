// The instructions of a load object's file, as bytes. Any thread, one at a time.
#include "reader/lines/code_bytes.h"

#include <gelf.h>

#include <algorithm>
#include <cstring>

namespace gnomon::reader {
namespace {

// Bytes of a call through a register or memory by its ModRM byte, the opcode ff and prefixes not
// counted: ModRM, SIB, displacement. 0: it is no call. (Intel SDM volume 2, 2.1.5 and CALL.)
std::size_t indirect_call_bytes(unsigned modrm, unsigned sib) {
  const unsigned mode = modrm >> 6, operation = modrm >> 3 & 7, rm = modrm & 7;
  if (operation != 2) return 0;
  if (mode == 3) return 1;
  const std::size_t with_sib = rm == 4 ? 2 : 1;
  if (mode == 1) return with_sib + 1;
  if (mode == 2) return with_sib + 4;
  const bool has_displacement = rm == 5 || (rm == 4 && (sib & 7) == 5);
  return with_sib + (has_displacement ? 4 : 0);
}

}  // namespace

CodeBytes::CodeBytes(Elf* elf) {
  constexpr std::uint64_t kMost = 1ull << 30;
  std::size_t count = 0;
  if (elf_getphdrnum(elf, &count) != 0) return;
  for (std::size_t i = 0; i < count; ++i) {
    GElf_Phdr header;
    if (!gelf_getphdr(elf, static_cast<int>(i), &header) || header.p_type != PT_LOAD ||
        (header.p_flags & PF_X) == 0 || header.p_filesz > kMost)
      continue;
    const Elf_Data* data = elf_getdata_rawchunk(elf, static_cast<std::int64_t>(header.p_offset),
                                                header.p_filesz, ELF_T_BYTE);
    if (!data || !data->d_buf) continue;
    const auto* bytes = static_cast<const unsigned char*>(data->d_buf);
    segments_.push_back({header.p_vaddr, {bytes, bytes + data->d_size}});
  }
}

std::span<const unsigned char> CodeBytes::at(std::uint64_t address, std::size_t count) const {
  for (const Segment& segment : segments_) {
    const std::uint64_t offset = address - segment.begin;
    if (address >= segment.begin && offset < segment.bytes.size())
      return std::span(segment.bytes)
          .subspan(offset, std::min(count, segment.bytes.size() - offset));
  }
  return {};
}

// Of several readings of the bytes before a return address the direct call to code is preferred:
// its displacement seldom leads to code by chance.
std::uint64_t CodeBytes::call_around(std::uint64_t last_byte) const {
  constexpr std::size_t kDirect = 5, kLongest = 7;
  const std::uint64_t after = last_byte + 1;
  if (const auto direct = at(after - kDirect, kDirect);
      direct.size() == kDirect && direct[0] == 0xe8) {
    std::int32_t displacement = 0;
    std::memcpy(&displacement, direct.data() + 1, sizeof displacement);
    const std::uint64_t target = after + static_cast<std::uint64_t>(std::int64_t{displacement});
    if (!at(target, 1).empty()) {
      // ld writes the prefix 0x67 where a call through the table became a direct one.
      const auto prefix = at(after - kDirect - 1, 1);
      return after - kDirect - (!prefix.empty() && prefix[0] == 0x67 ? 1 : 0);
    }
  }
  for (std::size_t length = kLongest; length >= 2; --length) {
    const auto bytes = at(after - length, length);
    if (bytes.size() != length || bytes[0] != 0xff) continue;
    if (1 + indirect_call_bytes(bytes[1], length > 2 ? bytes[2] : 0) != length) continue;
    const auto prefix = at(after - length - 1, 1);
    const bool has_rex = !prefix.empty() && prefix[0] >= 0x40 && prefix[0] <= 0x4f;
    return after - length - (has_rex ? 1 : 0);
  }
  return last_byte;
}

}  // namespace gnomon::reader
