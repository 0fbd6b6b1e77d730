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

// A block is open while its writer may add to it and closed for ever after, which `check` says.
struct BlockHeader {
  std::uint32_t magic;  // stored last of the fields that do not change
  std::uint16_t major;
  std::uint16_t kind;   // DataKind of the file
  std::uint32_t index;  // position in the file, counted in blocks
  std::uint32_t count;  // records published; stored after each, so a crash can leave it one short
  std::uint64_t session;
  std::uint32_t reserved;
  std::uint32_t check;  // block_check of the records; 0: the block is open
};
static_assert(sizeof(BlockHeader) == 32);
static_assert(offsetof(BlockHeader, count) == 12);
static_assert(offsetof(BlockHeader, session) == 16);
static_assert(offsetof(BlockHeader, check) == 28);

// First word of every record, stored last (release). Zero: no record here yet, the block ends.
struct RecordWord {
  std::uint8_t kind;    // EventKind::id
  std::uint8_t size8;   // size of the record in units of 8 bytes
  std::uint16_t check;  // record_check of its digest
};
static_assert(sizeof(RecordWord) == 4);

// One step of every digest here: xor, multiply by an odd number (MurmurHash3's), shift. For a given
// `value` it loses no bit of `sum`, so one wrong word never ends in the same digest.
constexpr std::uint64_t digest_step(std::uint64_t sum, std::uint64_t value) {
  sum = (sum ^ value) * 0xff51afd7ed558ccdull;
  return sum ^ (sum >> 32);
}

// Of a record's kind, size and the bytes [4, size). `size` is a multiple of 4. Any context: reads
// memory only.
constexpr std::uint64_t record_digest(std::uint8_t kind, const std::uint32_t* words,
                                      std::size_t size) {
  std::uint64_t sum = digest_step(0x9e3779b97f4a7c15ull, std::uint64_t{kind} << 32 | size);
  for (std::size_t i = 1; i < size / 4; ++i) sum = digest_step(sum, words[i]);
  return sum;
}

constexpr std::uint16_t record_check(std::uint64_t digest) {
  return static_cast<std::uint16_t>(digest ^ (digest >> 16));
}

// `chain`: 0, then digest_step(chain, digest) for every record in order. Never 0.
constexpr std::uint32_t block_check(std::uint64_t chain, std::uint32_t count) {
  const std::uint64_t sum = digest_step(chain, count);
  const auto folded = static_cast<std::uint32_t>(sum ^ (sum >> 32));
  return folded == 0 ? 1 : folded;
}

}  // namespace gnomon::format
