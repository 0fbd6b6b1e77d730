// A table as text of blocks, one a row. Any thread.
#include <fmt/format.h>

#include <algorithm>

#include "reader/table/shorten.h"
#include "reader/table/table.h"
#include "reader/table/text_cells.h"

namespace gnomon::reader {
namespace {

std::string_view unit_of(Type type) {
  switch (type) {
    case Type::time:
      return " sec.";
    case Type::bytes:
      return " bytes";
    case Type::percent:
      return " %";
    default:
      return "";
  }
}

std::string value_of(const Cell& cell, Type type) {
  std::string text = cell_text(cell, 0);
  text.erase(0, text.find_first_not_of(' '));
  text.erase(text.find_last_not_of(' ') + 1);
  if (text.empty()) return "(unknown)";
  return fmt::format("{}{}", text, unit_of(type));
}

}  // namespace

// A share stands in brackets behind its value; what there is not has no line.
Result<void> print_blocks(const Table& table, const TextStyle& style, const Interrupt& interrupt,
                          const Put& put) {
  if (auto done = put(above_rows(table, style.has_color)); !done) return done;
  std::size_t widest = 0;
  for (std::size_t c = 1; c < table.columns.size(); ++c)
    widest = std::max(widest, width_of(table.columns[c].title.front()));
  std::uint64_t number = 0;
  auto done = table.each_row([&](const Row& row) -> Result<void> {
    if (interrupt.asked(number)) return interrupted();
    std::string block = (number++ == 0 ? "" : "\n") + cell_text(row[0], style.width);
    for (std::size_t c = 1; c < row.size(); ++c) {
      const Column& column = table.columns[c];
      if (!column.in_text || std::holds_alternative<Empty>(row[c])) continue;
      const std::string value = value_of(row[c], column.type);
      if (column.type == Type::percent)
        block += fmt::format(" ({})", value);
      else
        block += fmt::format("\n  {:<{}} {}", column.title.front() + ":", widest + 1, value);
    }
    return put(block + "\n");
  });
  if (!done) return done;
  const std::string note = left_out_note(table);
  return note.empty() ? Result<void>() : put("\n" + note + "\n");
}

}  // namespace gnomon::reader
