// What users type, as numbers and times. Any thread.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace gnomon::commands {

// A whole number in decimal digits and nothing else.
std::optional<std::size_t> whole_number(std::string_view word);

// A time of the form NUMBER[ms|s|m], seconds if there is no unit; the number may have decimals. In
// nanoseconds, of at most a million seconds. None: the word is no such time.
std::optional<std::uint64_t> time_in(std::string_view word);

}  // namespace gnomon::commands
