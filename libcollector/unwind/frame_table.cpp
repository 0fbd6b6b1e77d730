// Frame table: parses .eh_frame_hdr, FDE and CIE as mapped (LSB, "Exception Frames"). Any context;
// takes no lock.
#include "libcollector/unwind/frame_table.h"

#include <algorithm>

namespace gnomon::collector {
namespace {

constexpr std::uint8_t kDatarelSdata4 = 0x3b;

struct TableEntry {
  std::int32_t code, frame;  // both from the start of .eh_frame_hdr
};

// Returns the address of the FDE whose code begins last at or before pc; 0 if there is none, or the
// table has an unknown form.
std::uint64_t search(const FrameTable& table, std::uint64_t pc) {
  ByteReader header({table.header, table.segment_of(table.header).end});
  const auto version = header.read<std::uint8_t>();
  const auto frame_encoding = header.read<std::uint8_t>();
  const auto count_encoding = header.read<std::uint8_t>();
  const auto table_encoding = header.read<std::uint8_t>();
  if (version != 1 || table_encoding != kDatarelSdata4) return 0;
  header.pointer(frame_encoding, table.header);
  std::uint64_t count = header.pointer(count_encoding, table.header);
  if (!header.ok() || count == 0 || count > (header.end() - header.at()) / sizeof(TableEntry))
    return 0;
  const std::uint64_t entries = header.at();
  const auto entry = [&](std::uint64_t i) {
    return ByteReader({entries + i * sizeof(TableEntry), header.end()}).read<TableEntry>();
  };
  const auto code = [&](std::uint64_t i) {
    return table.header + static_cast<std::uint64_t>(std::int64_t{entry(i).code});
  };
  std::uint64_t first = 0;
  while (count > 0) {
    const std::uint64_t half = count / 2;
    if (code(first + half) <= pc) {
      first += half + 1;
      count -= half + 1;
    } else {
      count = half;
    }
  }
  if (first == 0) return 0;
  return table.header + static_cast<std::uint64_t>(std::int64_t{entry(first - 1).frame});
}

// Returns the entry at `address` without its length field; empty if it is damaged.
ByteRange entry_at(std::uint64_t address, const FrameTable& table) {
  const ByteRange segment = table.segment_of(address);
  if (!segment.contains(address)) return {};
  ByteReader reader({address, segment.end});
  std::uint64_t length = reader.read<std::uint32_t>();
  if (length == 0xffffffff) length = reader.read<std::uint64_t>();
  if (!reader.ok() || length > segment.end - reader.at()) return {};
  return {reader.at(), reader.at() + length};
}

bool read_common(ByteRange entry, FrameDescription& to) {
  ByteReader reader(entry);
  if (reader.read<std::uint32_t>() != 0) return false;
  const auto version = reader.read<std::uint8_t>();
  if (version != 1 && version != 3) return false;
  std::uint8_t augmentation[8] = {};
  for (std::uint8_t& letter : augmentation)
    if ((letter = reader.read<std::uint8_t>()) == 0) break;
  if (augmentation[7] != 0) return false;
  to.code_align = reader.uleb();
  to.data_align = reader.sleb();
  to.return_register = version == 1 ? reader.read<std::uint8_t>() : reader.uleb();
  if (augmentation[0] == 0) {
    to.common = {reader.at(), entry.end};
    return reader.ok();
  }
  if (augmentation[0] != 'z') return false;
  to.augmented = true;
  const std::uint64_t size = reader.uleb();
  const std::uint64_t begin = reader.at();
  for (const std::uint8_t* letter = augmentation + 1; *letter; ++letter) {
    if (*letter == 'R') to.pointer_encoding = reader.read<std::uint8_t>();
    if (*letter == 'L') reader.read<std::uint8_t>();
    if (*letter == 'P') reader.number(reader.read<std::uint8_t>() & 0x0f);
    if (*letter == 'S') to.signal_frame = true;
  }
  if (!reader.ok() || size > entry.end - begin) return false;
  to.common = {begin + size, entry.end};
  return true;
}

bool is_absolute(std::uint8_t encoding) { return (encoding & 0x70) == 0; }

// Reads the FDE at `address` and its CIE.
Found describe(const FrameTable& table, std::uint64_t address, FrameDescription& found) {
  const ByteRange entry = entry_at(address, table);
  ByteReader reader(entry);
  const std::uint64_t id_at = reader.at();
  const std::uint64_t id = reader.read<std::uint32_t>();
  if (!reader.ok() || id == 0 || id > id_at) return Found::damaged;
  found = {};
  if (!read_common(entry_at(id_at - id, table), found)) return Found::damaged;
  std::uint64_t begin = reader.pointer(found.pointer_encoding, table.header);
  if (is_absolute(found.pointer_encoding)) begin += table.shift;
  const std::uint64_t size = reader.number(found.pointer_encoding & 0x0f);
  if (!reader.ok()) return Found::damaged;
  found.code = {begin, begin + size};
  if (found.augmented) reader.skip(reader.uleb());
  found.instructions = {reader.at(), entry.end};
  return reader.ok() ? Found::yes : Found::damaged;
}

// Reads .eh_frame from its start. An FDE that is damaged is passed over, so that those behind it
// are found.
Found search_all(const FrameTable& table, std::uint64_t pc, FrameDescription& found) {
  const std::uint64_t end = std::min(table.frames.end, table.segment_of(table.frames.begin).end);
  for (std::uint64_t at = table.frames.begin; at + 8 <= end;) {
    const ByteRange entry = entry_at(at, table);
    if (entry.end <= entry.begin) break;  // damaged, or the terminator
    if (ByteReader(entry).read<std::uint32_t>() != 0 && describe(table, at, found) == Found::yes &&
        found.code.contains(pc))
      return Found::yes;
    at = entry.end;
  }
  return Found::no;
}

}  // namespace

Found find_frame(const FrameTable& table, std::uint64_t pc, FrameDescription& found) {
  if (table.header == 0) return search_all(table, pc, found);
  const std::uint64_t address = search(table, pc);
  if (address == 0) return Found::no;
  const Found result = describe(table, address, found);
  return result == Found::yes && !found.code.contains(pc) ? Found::no : result;
}

}  // namespace gnomon::collector
