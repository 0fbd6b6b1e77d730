// Damages of an experiment's files, as disks, copies and enemies make them. Any thread.
#include <algorithm>
#include <iterator>

#include "tests/fuzz/experiment_files.h"

namespace gnomon::fuzz {
namespace {

using Random = std::mt19937_64;

std::size_t below(Random& random, std::size_t end) { return end == 0 ? 0 : random() % end; }

// Values that arithmetic goes wrong on.
std::uint64_t extreme(Random& random) {
  constexpr std::uint64_t kValues[] = {
      0,          1,          2,       0x7f,       0xff,       0x7fff,     0xffff,    0x10000,
      0x7fffffff, 0x80000000, 1 << 24, 0xfffffffe, 0xffffffff, ~0ull >> 1, ~0ull - 1, ~0ull};
  return kValues[below(random, std::size(kValues))];
}

// Gives a number or a word of the text another value.
void change_number(std::string& text, Random& random) {
  constexpr std::string_view kDigits = "0123456789";
  const auto from = text.find_first_of(kDigits, below(random, text.size()));
  if (from == std::string::npos) return;
  const auto end = std::min(text.find_first_not_of(kDigits, from), text.size());
  const std::string values[] = {
      std::to_string(extreme(random)), "-1", "1e300", "\"x\"", "null", "[]", "{}",
      "18446744073709551616"};
  text.replace(from, end - from, values[below(random, std::size(values))]);
}

void change_bytes(std::string& bytes, Random& random) {
  const std::size_t at = below(random, bytes.size());
  switch (below(random, 4)) {
    case 0:
      bytes[at] = static_cast<char>(bytes[at] ^ 1 << below(random, 8));
      return;
    case 1:
      bytes[at] = static_cast<char>(random());
      return;
    case 2:
      for (std::size_t i = at; i < std::min(at + 1 + below(random, 64), bytes.size()); ++i)
        bytes[i] = static_cast<char>(random());
      return;
    default: {
      // A number as the formats align it.
      constexpr std::size_t kWidths[] = {2, 4, 8};
      const std::size_t width = kWidths[below(random, 3)], place = at / width * width;
      const std::uint64_t value = extreme(random);
      for (std::size_t i = 0; i < width && place + i < bytes.size(); ++i)
        bytes[place + i] = static_cast<char>(value >> 8 * i);
    }
  }
}

// Zeroes, copies, takes away or inserts a piece.
void move_piece(std::string& bytes, Random& random) {
  const std::size_t from = below(random, bytes.size());
  const std::size_t size =
      std::min(1 + below(random, std::size_t{1} << below(random, 16)), bytes.size() - from);
  const std::string piece = bytes.substr(from, size);
  const std::size_t to = below(random, bytes.size());
  switch (below(random, 4)) {
    case 0:
      std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(from), size, '\0');
      return;
    case 1:
      bytes.replace(to, std::min(size, bytes.size() - to), piece);
      return;
    case 2:
      bytes.erase(from, size);
      return;
    default:
      bytes.insert(to, piece);
  }
}

// Lines of a text file change places, are lost or stand twice.
void move_line(std::string& text, Random& random) {
  const auto line_at = [&](std::size_t at) {
    const std::size_t begin = at == 0 ? 0 : text.rfind('\n', at - 1) + 1;
    return std::pair(begin, std::min(text.find('\n', begin), text.size() - 1) + 1);
  };
  const auto [begin, end] = line_at(below(random, text.size()));
  const std::string line = text.substr(begin, end - begin);
  const std::size_t to = line_at(below(random, text.size())).first;
  if (random() % 2 == 0) text.erase(begin, end - begin);
  if (random() % 2 == 0) text.insert(std::min(to, text.size()), line);
}

void resize(std::string& bytes, Random& random) {
  constexpr std::size_t kLonger = 1 << 20;
  bytes.resize(random() % 2 == 0 ? below(random, bytes.size())
                                 : bytes.size() + below(random, kLonger));
}

bool is_text(const std::string& bytes) { return bytes.starts_with('{'); }

}  // namespace

void damage(Files& files, const Files& other, Random& random) {
  if (files.empty()) return;
  const auto file =
      std::next(files.begin(), static_cast<std::ptrdiff_t>(below(random, files.size())));
  std::string& bytes = file->second;
  const auto kind = below(random, 20);
  if (kind == 0) {
    if (const auto same = other.find(file->first); same != other.end()) bytes = same->second;
  } else if (kind == 1) {
    files.erase(file);
  } else if (bytes.empty()) {
    bytes = std::string(below(random, 100), static_cast<char>(random()));
  } else if (kind == 2) {
    resize(bytes, random);
  } else if (kind < 6) {
    move_piece(bytes, random);
  } else if (is_text(bytes) && kind < 11) {
    change_number(bytes, random);
  } else if (is_text(bytes) && kind < 14) {
    move_line(bytes, random);
  } else {
    change_bytes(bytes, random);
  }
}

}  // namespace gnomon::fuzz
