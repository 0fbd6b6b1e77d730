// Where in a program's source an instruction comes from. Any thread.
#pragma once
#include <compare>
#include <cstdint>

namespace gnomon::reader {

// A name in SourceFiles.
enum class SourceFileId : std::uint32_t { none = ~0u };

// line 0: the instruction comes from no line.
struct SourcePlace {
  SourceFileId file = SourceFileId::none;
  std::uint32_t line = 0;

  bool is_known() const { return line != 0 && file != SourceFileId::none; }
  friend auto operator<=>(const SourcePlace&, const SourcePlace&) = default;
};

}  // namespace gnomon::reader
