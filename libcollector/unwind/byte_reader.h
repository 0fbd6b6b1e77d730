// Reads DWARF's numbers from mapped memory, never beyond its end. Any context.
#pragma once
#include <cstdint>
#include <cstring>

#include "libcollector/core/byte_range.h"

namespace gnomon::collector {

// DW_EH_PE encodings of .eh_frame (LSB, "DWARF Extensions"): low nibble format, high nibble base.
inline constexpr std::uint8_t kEncodingOmitted = 0xff;

// After a read beyond the end, or of an unknown encoding, ok() is false and every read returns 0.
class ByteReader {
 public:
  explicit ByteReader(ByteRange range) : at_(range.begin), end_(range.end) {}

  bool ok() const { return ok_; }
  bool done() const { return !ok_ || at_ >= end_; }
  std::uint64_t at() const { return at_; }
  std::uint64_t end() const { return end_; }

  template <typename T>
  T read() {
    T value{};
    if (!has(sizeof value)) return value;
    std::memcpy(&value, reinterpret_cast<const void*>(at_), sizeof value);
    at_ += sizeof value;
    return value;
  }

  void skip(std::uint64_t bytes) {
    if (has(bytes)) at_ += bytes;
  }

  std::uint64_t uleb() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; ok_; shift += 7) {
      const auto byte = read<std::uint8_t>();
      if (shift < 64) value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
      if (!(byte & 0x80)) break;
    }
    return ok_ ? value : 0;
  }

  std::int64_t sleb() {
    std::uint64_t value = 0;
    unsigned shift = 0;
    std::uint8_t byte = 0;
    do {
      byte = read<std::uint8_t>();
      if (shift < 64) value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
      shift += 7;
    } while (ok_ && byte & 0x80);
    if (shift < 64 && byte & 0x40) value |= ~0ull << shift;
    return ok_ ? static_cast<std::int64_t>(value) : 0;
  }

  // data_base: what DW_EH_PE_datarel counts from. Indirect pointers are read, not followed.
  std::uint64_t pointer(std::uint8_t encoding, std::uint64_t data_base) {
    const std::uint64_t here = at_;
    const std::uint64_t value = number(encoding & 0x0f);
    switch (encoding & 0x70) {
      case 0x00:
        return value;  // absolute
      case 0x10:
        return here + value;  // DW_EH_PE_pcrel
      case 0x30:
        return data_base + value;  // DW_EH_PE_datarel
      default:
        ok_ = false;
        return 0;
    }
  }

  // The number of an encoded pointer without its base.
  std::uint64_t number(std::uint8_t format) {
    const auto widen = [](std::int64_t value) { return static_cast<std::uint64_t>(value); };
    switch (format) {
      case 0x00:
      case 0x04:
      case 0x0c:
        return read<std::uint64_t>();
      case 0x01:
        return uleb();
      case 0x02:
        return read<std::uint16_t>();
      case 0x03:
        return read<std::uint32_t>();
      case 0x09:
        return widen(sleb());
      case 0x0a:
        return widen(read<std::int16_t>());
      case 0x0b:
        return widen(read<std::int32_t>());
      default:
        ok_ = false;
        return 0;
    }
  }

 private:
  bool has(std::uint64_t bytes) {
    ok_ = ok_ && at_ <= end_ && bytes <= end_ - at_;
    return ok_;
  }

  std::uint64_t at_, end_;
  bool ok_ = true;
};

}  // namespace gnomon::collector
