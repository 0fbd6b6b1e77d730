// The properties of an event that expressions name. Any thread.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace gnomon::reader {

// Where a property comes from. field: the field that the experiment names by that token.
enum class TokenSource : std::uint8_t {
  field,
  thread,
  cpu,
  time,
  begin,
  sample,
  microseconds,
  experiment,
  process,
  leaf,
  stack
};

struct Token {
  std::string_view name;
  TokenSource source;
  std::string_view meaning;  // a phrase
};

std::span<const Token> token_table();
inline constexpr Token kStackToken{"STACK", TokenSource::stack, "the functions of the call stack"};
inline bool is_list(const Token& token) { return token.source == TokenSource::stack; }
// In any case of its letters; returns its row.
std::optional<std::size_t> find_token(std::string_view name);

}  // namespace gnomon::reader
