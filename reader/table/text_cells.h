// The cells of a table as text. Any thread.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

#include "reader/table/table.h"

namespace gnomon::reader {

// room: columns that a name is cut to; 0: it is not.
std::string cell_text(const Cell& cell, std::size_t room);
// An SGR sequence; empty: none.
std::string_view color_of(const Cell& cell);
std::string painted(const std::string& text, std::string_view color, bool has_color);
// Title and notes, and the blank line behind them.
std::string above_rows(const Table& table, bool has_color);

// Prints each row as a block: its first column, then a line for each other one.
Result<void> print_blocks(const Table& table, const TextStyle& style, const Interrupt& interrupt,
                          const Put& put);

}  // namespace gnomon::reader
