// Rows of a table. Any thread.
#include "reader/table/table.h"

#include <fmt/format.h>

namespace gnomon::reader {

Result<void> Table::each_row(const Take& take) const {
  if (list) return list(take);
  for (const Row& row : rows)
    if (auto done = take(row); !done) return done;
  return {};
}

Result<std::string> to_text(const Table& table, const TextStyle& style) {
  std::string text;
  auto done = print_text(table, style, {}, [&](std::string_view piece) -> Result<void> {
    text += piece;
    return {};
  });
  if (!done) return tl::unexpected(done.error());
  return text;
}

std::string left_out_note(const Table& table) {
  if (table.left_out.count == 0) return "";
  return fmt::format("{} more {}; --limit 0 shows all.", table.left_out.count, table.left_out.what);
}

}  // namespace gnomon::reader
