// An event, and what its experiment says of the layout of its kind. Any thread.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "libcollector/format/block.h"
#include "libcollector/format/events.h"

namespace gnomon::reader {

// A row of `events` in header.json. Its fields lie within `size`.
struct EventLayout {
  struct Field {
    std::string name, token;
    std::uint8_t offset = 0, width = 0;
    format::Unit unit = format::Unit::none;
  };
  std::uint8_t id = 0;
  std::string name;
  std::string file;        // name of the data file
  std::uint16_t kind = 0;  // DataKind of that file
  bool is_compact = false;
  std::uint16_t size = 0;  // bytes of a record
  std::vector<Field> fields;

  // Returns null if the kind has no field of that name.
  const Field* field(std::string_view wanted) const {
    for (const Field& each : fields)
      if (each.name == wanted) return &each;
    return nullptr;
  }
};

// A record of a block. Both must outlive it.
struct Event {
  const EventLayout& layout;
  const std::byte* record;
  const format::BlockHeader& block;

  // What the field holds: instants on CLOCK_MONOTONIC, ns, in every layout.
  std::uint64_t value(const EventLayout::Field& field) const {
    std::uint64_t bits = 0;
    // A copy of constant size is one instruction.
    if (field.width == 8)
      std::memcpy(&bits, record + field.offset, 8);
    else if (field.width == 4)
      std::memcpy(&bits, record + field.offset, 4);
    else
      std::memcpy(&bits, record + field.offset, field.width);
    return layout.is_compact && field.unit == format::Unit::time ? block.time + bits : bits;
  }
  // What a field of text holds.
  std::string_view text(const EventLayout::Field& field) const {
    const auto* const begin = reinterpret_cast<const char*>(record) + field.offset;
    return {begin, strnlen(begin, layout.size - field.offset)};
  }
};

}  // namespace gnomon::reader
