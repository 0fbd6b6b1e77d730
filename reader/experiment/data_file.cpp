// Reads the events of an experiment's data files. Any thread, one at a time.
#include "reader/experiment/data_file.h"

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstring>
#include <span>
#include <thread>

#include "libcollector/format/block.h"
#include "reader/io/file.h"

namespace gnomon::reader {
namespace {

using format::BlockHeader;
using format::kBlockBytes;

std::span<std::byte> bytes_of(Block& block) { return std::as_writable_bytes(std::span(block)); }

// The first word of a record, of either layout.
struct Word {
  std::uint8_t id = 0;      // 0: nothing is here
  std::size_t size = 0;     // bytes; 0: not known
  std::uint16_t check = 0;  // 0: the record is unfinished
};

}  // namespace

// One call of read_new.
struct DataFile::Reading {
  const Experiment& experiment;
  const LaneCopies* lanes;
  const Visit& visit;
  std::string path = {};
  File file = {};
  std::array<const EventLayout*, 256> layouts = {};  // by id
  bool is_compact = false;
  Block block = {};

  // How often a block may still be looked at that is being written out right now.
  int patience = 50;

  Word word_at(const std::byte* at) const {
    std::uint64_t bits = 0;
    std::memcpy(&bits, at, sizeof bits);
    if (is_compact) {
      const format::CompactWord word{bits};
      const EventLayout* layout = layouts[word.kind()];
      return {word.kind(), layout ? layout->size : std::size_t{0}, word.check()};
    }
    const auto word = std::bit_cast<format::RecordWord>(static_cast<std::uint32_t>(bits));
    return {word.kind, std::size_t{word.size8} * 8, word.check};
  }

  // place: of the record in its block, bytes.
  std::uint16_t check_of(const std::byte* at, std::uint32_t place, const Word& word) const {
    if (is_compact)
      return format::compact_check(place, reinterpret_cast<const std::uint64_t*>(at), word.size);
    return format::record_check(format::record_digest(
        word.id, place, reinterpret_cast<const std::uint32_t*>(at), word.size));
  }
};

// Whole blocks were compared with their checksum already. Of others everything is there that the
// header counts, and more may be. end: of what can be relied on, bytes.
// seen: what to skip and to complete; null: nothing was visited before.
// Returns false if a record is damaged; what stands behind it was not visited.
Result<bool> DataFile::visit_records(Reading& reading, const Block& block, std::size_t end,
                                     bool is_whole, Seen* seen) {
  const BlockHeader& header = header_of(block);
  const auto* bytes = reinterpret_cast<const std::byte*>(block.data());
  const std::size_t most = is_whole ? end : kBlockBytes;
  for (std::size_t at = sizeof header; at + 8 <= end;) {
    const Word word = reading.word_at(bytes + at);
    const bool is_counted = !is_whole && at < header.bytes;
    if (is_counted && word.check == 0) return false;  // a hole
    if (word.id == 0) {
      at += 8;
      continue;
    }
    if (word.size < 8 || at + word.size > most) return false;
    const std::size_t place = at / 8;
    at += word.size;
    if (at > end) break;
    if (seen && (*seen)[place]) continue;
    if (word.check == 0) {
      if (is_whole) ++unfinished_;
      continue;
    }
    const std::byte* record = bytes + place * 8;
    if (!is_whole &&
        reading.check_of(record, static_cast<std::uint32_t>(place * 8), word) != word.check)
      return false;
    if (seen) (*seen)[place] = true;
    const EventLayout* layout = reading.layouts[word.id];
    if (!layout) continue;  // of a newer minor format
    if (layout->size != word.size) return false;
    if (auto done = reading.visit({*layout, record, header}); !done)
      return tl::unexpected(done.error());
  }
  return true;
}

Result<DataFile::Found> DataFile::read_block(Reading& reading, std::uint32_t number) {
  const auto pending = pending_.find(number);
  Seen* seen = pending == pending_.end() ? nullptr : &pending->second;
  Block& block = reading.block;
  const auto read = reading.file.read(std::uint64_t{number} * kBlockBytes, bytes_of(block));
  const std::size_t got = read.value_or(0);
  const BlockHeader& header = header_of(block);
  if (got >= sizeof header && is_of(header, reading.experiment) && header.kind == kind_ &&
      header.number == number && header.bytes >= sizeof header && header.bytes <= got &&
      header.bytes % 8 == 0 && header.check == format::block_check(block.data(), header.bytes)) {
    const auto sound = visit_records(reading, block, header.bytes, true, seen);
    if (!sound) return tl::unexpected(sound.error());
    if (seen) pending_.erase(pending);
    return *sound ? Found::whole : Found::damaged;
  }
  if (const auto* copy = reading.lanes ? reading.lanes->find(kind_, number) : nullptr) {
    if (!seen) seen = &pending_.emplace(number, Seen(kBlockBytes / 8)).first->second;
    const auto sound = visit_records(reading, copy->block, copy->steady, false, seen);
    if (!sound) return tl::unexpected(sound.error());
    return *sound ? Found::in_lane : Found::damaged;
  }
  if (!seen) pending_.emplace(number, Seen(kBlockBytes / 8));
  return got >= sizeof header && header.magic != 0 ? Found::torn : Found::nowhere;
}

// A block that is being written out right now is whole in a moment.
Result<void> DataFile::look_at(Reading& reading, std::uint32_t number) {
  constexpr std::chrono::milliseconds kPause{1};
  for (;;) {
    const auto found = read_block(reading, number);
    if (!found) return tl::unexpected(found.error());
    if (*found == Found::torn && reading.lanes && reading.patience > 0) {
      --reading.patience;
      std::this_thread::sleep_for(kPause);
      continue;
    }
    if (*found == Found::nowhere) ++missing_;
    if (*found == Found::torn && !reading.experiment.is_still) {
      ++torn_;
    } else if (*found == Found::torn || *found == Found::damaged) {
      ++damaged_;
      pending_.erase(number);
    }
    return {};
  }
}

Result<void> DataFile::read_new(const Experiment& experiment, const LaneCopies* lanes,
                                const Interrupt& interrupt, const Visit& visit) {
  const std::uint32_t blocks = experiment.control.blocks[kind_];
  if (next_ >= blocks && pending_.empty()) return {};
  Reading reading{experiment, lanes, visit};
  for (const EventLayout& layout : experiment.header.events)
    if (layout.kind == kind_) {
      reading.path = experiment.directory + "/" + layout.file;
      reading.layouts[layout.id] = &layout;
      reading.is_compact = layout.is_compact;
    }
  if (reading.path.empty()) return {};  // of a newer minor format
  auto file = File::open(reading.path);
  if (file)
    reading.file = std::move(*file);
  else if (!lanes)
    return tl::unexpected(file.error());
  const std::uint64_t bytes = file ? reading.file.size() : 0;
  if (experiment.is_still && bytes > std::uint64_t{blocks} * kBlockBytes)
    return fault(reading.path + " is damaged: it holds more blocks than the " +
                     std::to_string(blocks) + " that were written",
                 "record again");
  missing_ = torn_ = 0;
  std::uint32_t looked = 0;
  const auto look = [&](std::uint32_t number) -> Result<void> {
    if (looked++ % 16 == 0 && interrupt.asked()) return interrupted();
    return look_at(reading, number);
  };
  std::vector<std::uint32_t> numbers;
  for (const auto& [number, seen] : pending_) numbers.push_back(number);
  for (const std::uint32_t number : numbers)
    if (auto done = look(number); !done) return done;
  // Behind the end of the file there are no more blocks than lanes. A damaged count must not take
  // hours.
  const auto likely = static_cast<std::uint32_t>(
      std::min<std::uint64_t>(blocks, bytes / kBlockBytes + format::kMaxLanes + 1));
  for (; next_ < likely; ++next_)
    if (auto done = look(next_); !done) return done;
  if (next_ >= blocks) return {};
  numbers = lanes ? lanes->numbers(kind_, next_) : std::vector<std::uint32_t>();
  std::erase_if(numbers, [&](std::uint32_t number) { return number >= blocks; });
  beyond_ += blocks - next_ - numbers.size();
  next_ = blocks;
  for (const std::uint32_t number : numbers)
    if (auto done = look(number); !done) return done;
  return {};
}

}  // namespace gnomon::reader
