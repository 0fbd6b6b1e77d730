// What users type, as numbers and times. Any thread.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reader/base/result.h"

namespace gnomon::commands {

// A whole number in decimal digits and nothing else.
std::optional<std::size_t> whole_number(std::string_view word);

// A number as C writes it: 0x7f00 or 32512.
std::optional<std::uint64_t> address_in(std::string_view word);

// NUMBER[k|m], bytes.
std::optional<std::uint64_t> bytes_in(std::string_view word);

// A time of the form NUMBER[ms|s|m], seconds if there is no unit; the number may have decimals. In
// nanoseconds, of at most a million seconds. None: the word is no such time.
std::optional<std::uint64_t> time_in(std::string_view word);

// The words of a list with blanks between them.
std::vector<std::string_view> blank_separated(std::string_view list);

// The words of a line of commands: blanks stand between them, " or ' around a word with blanks, and
// # begins a comment. In "..." a backslash takes the next character as it is. Fault: a quote is
// missing.
Result<std::vector<std::string>> split_words(std::string_view line);

// The words of a syntax that users type as they stand there: "on" and "off" of "[on|off]".
std::vector<std::string> words_of_operands(std::string_view operands);

}  // namespace gnomon::commands
