// One line of JSON in a buffer of the caller's. Any context: writes to that buffer only.
#include "libcollector/core/json_line.h"

#include "libcollector/format/text.h"

namespace gnomon::collector {
namespace {

constexpr char kHex[] = "0123456789abcdef";

// Length of the well-formed UTF-8 sequence at `s`, 0 if there is none (RFC 3629).
std::size_t utf8_length(const unsigned char* s) {
  const auto follows = [&](std::size_t i) { return (s[i] & 0xc0) == 0x80; };
  if (s[0] < 0x80) return 1;
  if (s[0] >= 0xc2 && s[0] <= 0xdf) return follows(1) ? 2 : 0;
  if (s[0] >= 0xe0 && s[0] <= 0xef) {
    const bool overlong = s[0] == 0xe0 && s[1] < 0xa0, surrogate = s[0] == 0xed && s[1] > 0x9f;
    return follows(1) && !overlong && !surrogate && follows(2) ? 3 : 0;
  }
  if (s[0] >= 0xf0 && s[0] <= 0xf4) {
    const bool overlong = s[0] == 0xf0 && s[1] < 0x90, beyond = s[0] == 0xf4 && s[1] > 0x8f;
    return follows(1) && !overlong && !beyond && follows(2) && follows(3) ? 4 : 0;
  }
  return 0;
}

}  // namespace

bool is_utf8(const char* text) {
  for (auto s = reinterpret_cast<const unsigned char*>(text); *s;) {
    const std::size_t length = utf8_length(s);
    if (length == 0) return false;
    s += length;
  }
  return true;
}

void JsonLine::put(char c) {
  if (used_ < size_)
    at_[used_++] = c;
  else
    cut_ = true;
}

void JsonLine::put(const char* text) {
  while (*text) put(*text++);
}

void JsonLine::key(const char* name) {
  if (!first_) put(',');
  first_ = false;
  quoted(name);
  put(':');
}

void JsonLine::quoted(const char* value) {
  put('"');
  for (auto s = reinterpret_cast<const unsigned char*>(value); *s;) {
    const std::size_t length = utf8_length(s);
    if (length == 0) {
      put("\\ufffd");
      ++s;
    } else if (*s < 0x20) {
      put("\\u00");
      put(kHex[*s >> 4]);
      put(kHex[*s++ & 15]);
    } else {
      if (*s == '"' || *s == '\\') put('\\');
      for (std::size_t i = 0; i < length; ++i) put(static_cast<char>(*s++));
    }
  }
  put('"');
}

void JsonLine::digits(std::uint64_t value, unsigned base) {
  char buffer[24];
  std::size_t n = 0;
  do buffer[n++] = kHex[value % base];
  while (value /= base);
  while (n > 0) put(buffer[--n]);
}

JsonLine& JsonLine::text(const char* name, const char* value) {
  key(name);
  quoted(value);
  return *this;
}

JsonLine& JsonLine::number(const char* name, std::uint64_t value) {
  key(name);
  digits(value, 10);
  return *this;
}

JsonLine& JsonLine::hex(const char* name, std::uint64_t value) {
  key(name);
  put("\"0x");
  digits(value, 16);
  put('"');
  return *this;
}

JsonLine& JsonLine::bytes(const char* name, const unsigned char* data, std::size_t count) {
  key(name);
  put('"');
  for (std::size_t i = 0; i < count; ++i) {
    put(kHex[data[i] >> 4]);
    put(kHex[data[i] & 15]);
  }
  put('"');
  return *this;
}

JsonLine& JsonLine::open(const char* name, char bracket) {
  key(name);
  put(bracket);
  first_ = true;
  return *this;
}

JsonLine& JsonLine::close(char bracket) {
  put(bracket);
  first_ = false;
  return *this;
}

JsonLine& JsonLine::open_item(char bracket) {
  if (!first_) put(',');
  put(bracket);
  first_ = true;
  return *this;
}

JsonLine& JsonLine::item(const char* value) {
  if (!first_) put(',');
  first_ = false;
  quoted(value);
  return *this;
}

std::size_t JsonLine::finish() {
  std::uint32_t check = format::line_check(session_, at_, used_);
  char digits[format::kCheckDigits];
  for (std::size_t i = sizeof digits; i-- > 0; check >>= 4) digits[i] = kHex[check & 15];
  for (const char c : format::kCheckKey) put(c);
  for (const char c : digits) put(c);
  for (const char c : format::kCheckEnd) put(c);
  put('\n');
  return cut_ ? 0 : used_;
}

}  // namespace gnomon::collector
