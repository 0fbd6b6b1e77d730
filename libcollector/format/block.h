// Blocks: how a data file of an experiment is cut up. Plain structs shared by target, sampler and
// reader.
#pragma once
#include <cstddef>
#include <cstdint>

namespace gnomon::format {

// A data file is a sequence of blocks. A writer owns a block alone, so no record ever crosses one.
inline constexpr std::uint32_t kBlockBytes = 64 * 1024;
inline constexpr std::uint32_t kBlockMagic = 0x4b424e47;  // "GNBK"
inline constexpr std::uint16_t kFormatMajor = 1;          // a reader refuses a greater one
inline constexpr std::uint16_t kFormatMinor = 0;          // a reader ignores what it does not know

// `count` is stored after each record is published; a crash between the two leaves it one short.
struct BlockHeader {
  std::uint32_t magic;
  std::uint16_t major;
  std::uint16_t kind;   // DataKind of the file
  std::uint32_t index;  // position in the file, counted in blocks
  std::uint32_t count;  // records published
  std::uint64_t session;
  std::uint64_t reserved;
};
static_assert(sizeof(BlockHeader) == 32);
static_assert(offsetof(BlockHeader, count) == 12);
static_assert(offsetof(BlockHeader, session) == 16);

// First word of every record, stored last (release). Zero: no record here yet, the block ends.
struct RecordWord {
  std::uint8_t kind;    // EventKind::id
  std::uint8_t size8;   // size of the record in units of 8 bytes
  std::uint16_t check;  // folded checksum of the bytes behind the word
};
static_assert(sizeof(RecordWord) == 4);

// Folds the bytes [word + 4, word + size) of a record to the 16 bits its word carries. `size` is a
// multiple of 4. Any context: reads memory only.
constexpr std::uint16_t record_check(const std::uint32_t* words, std::size_t size) {
  std::uint64_t sum = 0x9e3779b97f4a7c15ull ^ size;
  for (std::size_t i = 1; i < size / 4; ++i) {
    sum = (sum ^ words[i]) * 0xff51afd7ed558ccdull;
    sum ^= sum >> 32;
  }
  return static_cast<std::uint16_t>(sum ^ (sum >> 16));
}

}  // namespace gnomon::format
