// Text from files and other programs, made fit for a terminal. Any thread.
#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

namespace gnomon {

// A character of UTF-8. bytes 1 and value ~0: that byte is no UTF-8 (RFC 3629).
struct Character {
  std::uint32_t value;
  std::size_t bytes;
};
inline Character character_at(std::string_view text, std::size_t at) {
  constexpr Character kNone{~0u, 1};
  const auto byte = [&](std::size_t i) {
    return at + i < text.size() ? static_cast<unsigned char>(text[at + i]) : 0u;
  };
  const std::uint32_t first = byte(0);
  if (first < 0x80) return {first, 1};
  const std::size_t bytes = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4) return kNone;
  std::uint32_t value = first & (0xffu >> (bytes + 1));
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return kNone;
    value = value << 6 | (byte(i) & 0x3f);
  }
  constexpr std::array<std::uint32_t, 5> kLeast{0, 0, 0x80, 0x800, 0x10000};
  const bool is_surrogate = value >= 0xd800 && value <= 0xdfff;
  return value < kLeast[bytes] || is_surrogate || value > 0x10ffff ? kNone
                                                                   : Character{value, bytes};
}

// Characters that a terminal obeys (C0, DEL, C1), that end a line, or that change the order in
// which text is read (Unicode's bidirectional controls).
constexpr bool is_control(std::uint32_t c) {
  return c < 0x20 || (c >= 0x7f && c <= 0x9f) || c == 0x61c || c == 0x200e || c == 0x200f ||
         (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069);
}

// The text with control characters and what is no UTF-8 as C writes them (\n, \x1b, \u202e): it
// keeps to its line, sets no color and means what it shows.
inline std::string one_line(std::string_view text) {
  const auto is_plain = [](char c) { return c >= ' ' && c <= '~'; };
  if (std::all_of(text.begin(), text.end(), is_plain)) return std::string(text);
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const auto [value, bytes] = character_at(text, at);
    char escape[12];
    if (value == '\n')
      out += "\\n";
    else if (value == '\t')
      out += "\\t";
    else if (value == ~0u || (value < 0x80 && is_control(value)))
      out.append(escape, static_cast<std::size_t>(std::snprintf(
                             escape, sizeof escape, "\\x%02x",
                             static_cast<unsigned>(static_cast<unsigned char>(text[at])))));
    else if (is_control(value))
      out.append(escape,
                 static_cast<std::size_t>(std::snprintf(escape, sizeof escape, "\\u%04x", value)));
    else
      out += text.substr(at, bytes);
    at += bytes;
  }
  return out;
}

// The same of text that has several lines.
inline std::string plain_lines(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    out += one_line(text.substr(at, end - at));
    if (end != text.size()) out += '\n';
    at = end + 1;
  }
  return out;
}

}  // namespace gnomon
