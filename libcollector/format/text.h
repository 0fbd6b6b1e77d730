// Text files: header.json, log.jsonl and map.jsonl. Each line is a JSON object whose last member is
// a checksum of what stands before it.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace gnomon::format {

// A line ends ,"check":"1234abcd"} with eight hexadecimal digits of line_check. header.json says
// the session, so its own line is that of session 0.
inline constexpr std::string_view kCheckKey = ",\"check\":\"";
inline constexpr std::string_view kCheckEnd = "\"}";
inline constexpr std::size_t kCheckDigits = 8;
inline constexpr std::size_t kCheckBytes = kCheckKey.size() + kCheckDigits + kCheckEnd.size();

// FNV-1a, 32 bits (Fowler, Noll, Vo), of the bytes before kCheckKey, begun with the session, so
// that a line of another run is not taken for one of this.
constexpr std::uint32_t line_check(std::uint64_t session, const char* text, std::size_t size) {
  std::uint32_t sum = 0x811c9dc5 ^ static_cast<std::uint32_t>(session ^ session >> 32);
  for (std::size_t i = 0; i < size; ++i)
    sum = (sum ^ static_cast<unsigned char>(text[i])) * 0x01000193u;
  return sum;
}

}  // namespace gnomon::format
