// One line of JSON in a buffer of the caller's. Any context: writes to that buffer only.
#pragma once
#include <cstddef>
#include <cstdint>

namespace gnomon::collector {

// Returns true if the text is well-formed UTF-8 (RFC 3629), which JSON is made of.
bool is_utf8(const char* text);

class JsonLine {
 public:
  // session: of the experiment; 0: of header.json.
  JsonLine(std::uint64_t session, char* buffer, std::size_t size)
      : session_(session), at_(buffer), size_(size) {
    put('{');
  }

  // What is no UTF-8 is replaced.
  JsonLine& text(const char* key, const char* value);
  JsonLine& number(const char* key, std::uint64_t value);
  JsonLine& hex(const char* key, std::uint64_t value);  // as text, "0x..."
  JsonLine& bytes(const char* key, const unsigned char* data, std::size_t count);  // "a1b2..."
  JsonLine& open(const char* key, char bracket);                                   // '{' or '['
  JsonLine& close(char bracket);
  JsonLine& open_item(char bracket);  // in an array
  JsonLine& item(const char* value);  // in an array

  // Adds the checksum and ends the object and the line. The object has at least one member. Returns
  // the line's length in bytes, or 0 if the line did not fit into the buffer.
  std::size_t finish();
  std::size_t room() const { return size_ - used_; }

 private:
  void put(char c);
  void put(const char* text);
  void key(const char* name);
  void quoted(const char* value);
  void digits(std::uint64_t value, unsigned base);

  std::uint64_t session_;
  char* at_;
  std::size_t size_;
  std::size_t used_ = 0;
  bool cut_ = false;
  bool first_ = true;
};

}  // namespace gnomon::collector
