// Blocks: the pieces of an experiment's data files, and the lanes in which they are filled. Plain
// structs shared by target, sampler and reader.
#pragma once
#include <cstddef>
#include <cstdint>

namespace gnomon::format {

// Block n of a data file lies at n * kBlockBytes. A writer fills a block in a lane, a buffer of the
// same size in the mapped file `lanes`, and writes the used part to its place when it is full.
inline constexpr std::uint32_t kBlockBytes = 16 * 1024;
inline constexpr std::uint32_t kMaxLanes = 4096;          // 64 MiB
inline constexpr std::uint32_t kBlockMagic = 0x4b424e47;  // "GNBK"
inline constexpr std::uint16_t kFormatMajor = 8;          // a reader refuses every other
inline constexpr std::uint16_t kFormatMinor = 0;          // a reader ignores what it does not know

// In a lane, magic 0 says that the lane holds no block: its old one is in the data file.
struct BlockHeader {
  std::uint32_t magic;  // in a lane: stored last of these fields
  std::uint16_t major;
  std::uint16_t kind;    // DataKind of the file
  std::uint32_t number;  // position in the file, counted in blocks
  std::uint32_t begun;   // header_check, which holds from the block's beginning on
  std::uint64_t session;
  std::uint32_t thread;  // of compact records: kernel thread id; else 0
  std::uint16_t cpu;     // of compact records: as the block was begun; kNoCpu: unknown
  std::uint16_t reserved2;
  std::uint64_t time;   // of compact records: what their times count from, CLOCK_MONOTONIC, ns
  std::uint32_t bytes;  // used, with this header; in a lane stored after each record
  std::uint32_t check;  // block_check; holds in the data file only
};
static_assert(sizeof(BlockHeader) == 48);
static_assert(offsetof(BlockHeader, session) == 16);
static_assert(offsetof(BlockHeader, time) == 32);
static_assert(offsetof(BlockHeader, check) == 44);

// First word of a record. It is stored twice: before the other fields with check 0, which says that
// the record is unfinished, and after them (release) with its check. A writer that is interrupted
// for ever in between leaves an unfinished record, or words that are 0: a reader skips both.
struct RecordWord {
  std::uint8_t kind;    // EventKind::id; 0: nothing is here
  std::uint8_t size8;   // size of the record in units of 8 bytes
  std::uint16_t check;  // record_check of its digest
};
static_assert(sizeof(RecordWord) == 4);

// First word of a compact record, stored twice likewise.
struct CompactWord {
  static constexpr std::uint64_t kAddressMask = (1ull << 48) - 1;
  std::uint64_t bits;  // address: 48, EventKind::id: 4, check: 12, from the lowest

  constexpr std::uint64_t address() const { return bits & kAddressMask; }
  constexpr std::uint8_t kind() const { return bits >> 48 & 0xf; }
  constexpr std::uint16_t check() const { return static_cast<std::uint16_t>(bits >> 52); }
  static constexpr CompactWord of(std::uint64_t address, std::uint8_t kind, std::uint16_t check) {
    return {(address & kAddressMask) | std::uint64_t{kind} << 48 | std::uint64_t{check} << 52};
  }
};

// One step of every digest here: xor, multiply by an odd number (MurmurHash3's), shift. For a given
// `value` it loses no bit of `sum`, so one wrong word never ends in the same digest.
constexpr std::uint64_t digest_step(std::uint64_t sum, std::uint64_t value) {
  sum = (sum ^ value) * 0xff51afd7ed558ccdull;
  return sum ^ (sum >> 32);
}

// Of a record's kind, size, its place in the block in bytes, and the bytes [4, size). `size` is a
// multiple of 4. Any context: reads memory only.
constexpr std::uint64_t record_digest(std::uint8_t kind, std::uint32_t place,
                                      const std::uint32_t* words, std::size_t size) {
  std::uint64_t sum = digest_step(0x9e3779b97f4a7c15ull ^ place, std::uint64_t{kind} << 32 | size);
  for (std::size_t i = 1; i < size / 4; ++i) sum = digest_step(sum, words[i]);
  return sum;
}

// Never 0.
constexpr std::uint16_t record_check(std::uint64_t digest) {
  const auto folded = static_cast<std::uint16_t>(digest ^ (digest >> 16));
  return folded == 0 ? 1 : folded;
}

// Of a compact record of `size` bytes at `place` in the block, whose first word says address and
// kind. 12 bits, never 0.
constexpr std::uint16_t compact_check(std::uint32_t place, const std::uint64_t* words,
                                      std::size_t size) {
  constexpr std::uint64_t kChecked = CompactWord::kAddressMask | 0xfull << 48;
  std::uint64_t sum = digest_step(std::uint64_t{place} << 32 | size, words[0] & kChecked);
  for (std::size_t i = 1; i < size / 8; ++i) sum = digest_step(sum, words[i]);
  const auto folded = static_cast<std::uint16_t>((sum ^ sum >> 12) & 0xfff);
  return folded == 0 ? 1 : folded;
}

constexpr std::uint32_t folded_check(std::uint64_t sum) {
  const auto folded = static_cast<std::uint32_t>(sum ^ (sum >> 32));
  return folded == 0 ? 1 : folded;
}

// Of the fields of a block's header that say what the block is. Never 0.
constexpr std::uint32_t header_check(const BlockHeader& header) {
  std::uint64_t sum = digest_step(header.number, std::uint64_t{header.major} << 16 | header.kind);
  sum = digest_step(sum, header.session);
  sum = digest_step(
      sum, std::uint64_t{header.thread} << 32 | std::uint32_t{header.cpu} << 16 | header.reserved2);
  return folded_check(digest_step(sum, header.time));
}

// Of the `bytes` of a block, a multiple of 8, without the field `check` itself. Four sums side by
// side, because each waits for its own last multiplication. Never 0.
constexpr std::uint32_t block_check(const std::uint64_t* words, std::size_t bytes) {
  constexpr std::size_t kCheckWord = offsetof(BlockHeader, check) / 8, kSums = 4;
  static_assert(kCheckWord / kSums == 1);
  std::uint64_t sums[kSums] = {1, 2, 3, 4};
  const std::size_t count = bytes / 8;
  std::size_t i = 0;
  for (; i < 2 * kSums && i < count; ++i)
    sums[i % kSums] =
        digest_step(sums[i % kSums], i == kCheckWord ? words[i] & 0xffffffff : words[i]);
  for (; i + kSums <= count; i += kSums) {
    sums[0] = digest_step(sums[0], words[i]);
    sums[1] = digest_step(sums[1], words[i + 1]);
    sums[2] = digest_step(sums[2], words[i + 2]);
    sums[3] = digest_step(sums[3], words[i + 3]);
  }
  for (; i < count; ++i) sums[i % kSums] = digest_step(sums[i % kSums], words[i]);
  std::uint64_t sum = bytes;
  for (const std::uint64_t each : sums) sum = digest_step(sum, each);
  return folded_check(sum);
}

}  // namespace gnomon::format
