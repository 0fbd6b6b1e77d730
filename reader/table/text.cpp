// A table as text. Any thread.
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "reader/table/shorten.h"
#include "reader/table/table.h"
#include "reader/table/text_cells.h"

namespace gnomon::reader {
namespace {

// What text shows of a column.
struct Strip {
  std::size_t column = 0;
  bool left = false;
  std::size_t width = 0;
  std::size_t room = 0;  // that its names are cut to; 0: they are not
  bool is_prose = false;
};

// Names in a last strip need no width, and are cut to what the terminal leaves them.
Result<std::vector<Strip>> strips_of(const Table& table, std::size_t width,
                                     const Interrupt& interrupt) {
  constexpr std::size_t kWidest = 256;  // one name that is longer does not widen every row
  std::vector<Strip> strips;
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    const Column& column = table.columns[c];
    if (!column.in_text) continue;
    strips.push_back({c, column.type == Type::text});
    strips.back().is_prose = column.is_prose;
    for (const std::string& line : column.title)
      strips.back().width = std::max(strips.back().width, width_of(line));
  }
  const bool has_names_last =
      !strips.empty() && strips.back().left && strips.back().column + 1 == table.columns.size();
  const std::size_t measured = strips.size() - (has_names_last ? 1 : 0);
  std::uint64_t number = 0;
  auto done = table.each_row([&](const Row& row) -> Result<void> {
    if (interrupt.asked(number++)) return interrupted();
    for (std::size_t s = 0; s < measured; ++s) {
      const std::size_t wide = width_of(cell_text(row[strips[s].column], 0));
      strips[s].width = std::max(strips[s].width, std::min(wide, kWidest));
    }
    return {};
  });
  if (!done) return tl::unexpected(done.error());
  std::size_t used = 0;
  for (std::size_t s = 0; s < measured; ++s) used += strips[s].width + 2;
  if (has_names_last && width != 0) strips.back().room = width - std::min(width - 1, used);
  return strips;
}

struct Piece {
  std::string text;
  std::string_view color = {};
};

// The text in lines of at most `room` columns, broken at blanks; a word that is longer stays whole.
std::vector<std::string> prose_of(const std::string& text, std::size_t room) {
  constexpr std::size_t kLeast = 20;
  std::vector<std::string> lines(1);
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    const std::string word = text.substr(at, end - at);
    std::string& line = lines.back();
    if (!line.empty() && width_of(line) + 1 + width_of(word) > std::max(room, kLeast))
      lines.push_back(word);
    else
      line += (line.empty() ? "" : " ") + word;
    at = end + 1;
  }
  return lines;
}

// piece_of(strip): what that strip has in this line.
template <typename PieceOf>
std::string line_of(const std::vector<Strip>& strips, bool has_color, PieceOf piece_of) {
  std::string line;
  for (std::size_t s = 0; s < strips.size(); ++s) {
    const Piece piece = piece_of(strips[s]);
    const std::size_t width = width_of(piece.text);
    const std::string pad(strips[s].width - std::min(strips[s].width, width), ' ');
    const std::string text = painted(piece.text, piece.color, has_color);
    line += (s == 0 ? "" : "  ") + (strips[s].left ? text + pad : pad + text);
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return line + "\n";
}

// What stands above the rows.
std::string head_of(const Table& table, const std::vector<Strip>& strips, bool has_color) {
  std::string head = above_rows(table, has_color);
  std::size_t lines = 0;
  for (const Strip& strip : strips)
    lines = std::max(lines, table.columns[strip.column].title.size());
  for (std::size_t line = 0; line < lines; ++line)
    head += line_of(strips, has_color, [&](const Strip& strip) {
      const auto& titles = table.columns[strip.column].title;
      return Piece{line < titles.size() ? titles[line] : std::string()};
    });
  return head;
}

// A row as text: one line, or more where its last cell is prose.
std::string lines_of(const Row& row, const std::vector<Strip>& strips, bool has_color) {
  const bool is_prose = !strips.empty() && strips.back().is_prose && strips.back().room != 0;
  std::vector<std::string> prose;
  if (is_prose) prose = prose_of(cell_text(row[strips.back().column], 0), strips.back().room);
  std::string lines = line_of(strips, has_color, [&](const Strip& strip) {
    const Cell& cell = row[strip.column];
    const bool is_last = is_prose && strip.column == strips.back().column;
    return Piece{is_last ? prose.front() : cell_text(cell, strip.room), color_of(cell)};
  });
  for (std::size_t i = 1; i < prose.size(); ++i)
    lines += line_of(strips, has_color, [&](const Strip& strip) {
      return Piece{strip.column == strips.back().column ? prose[i] : std::string()};
    });
  return lines;
}

}  // namespace

Result<void> print_text(const Table& table, const TextStyle& style, const Interrupt& interrupt,
                        const Put& put) {
  if (table.is_of_blocks) return print_blocks(table, style, interrupt, put);
  const auto strips = strips_of(table, style.width, interrupt);
  if (!strips) return tl::unexpected(strips.error());
  if (auto done = put(head_of(table, *strips, style.has_color)); !done) return done;
  auto group = table.groups.begin();
  std::size_t number = 0;
  auto done = table.each_row([&](const Row& row) -> Result<void> {
    if (interrupt.asked(number)) return interrupted();
    std::string lines;
    if (group != table.groups.end() && *group == number) {
      lines = "\n";
      ++group;
    }
    ++number;
    lines += lines_of(row, *strips, style.has_color);
    return put(lines);
  });
  if (!done) return done;
  const std::string note = left_out_note(table);
  return note.empty() ? Result<void>() : put("\n" + note + "\n");
}

}  // namespace gnomon::reader
