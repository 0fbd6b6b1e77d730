// A table as text. Any thread.
#include <fmt/format.h>

#include <algorithm>
#include <sstream>
#include <string_view>

#include "reader/base/one_line.h"
#include "reader/table/shorten.h"
#include "reader/table/table.h"

namespace gnomon::reader {
namespace {

// SGR sequences. Percentages as perf has them: from 5 red, from 0.5 green.
constexpr std::string_view kStrong = "\x1b[1m", kWarning = "\x1b[1;33m", kHot = "\x1b[31m",
                           kWarm = "\x1b[32m", kPlain = "\x1b[0m";
constexpr double kHotPercent = 5, kWarmPercent = 0.5;

struct CellText {
  std::string operator()(const std::string& text) const { return one_line(text); }
  std::string operator()(std::uint64_t count) const { return std::to_string(count); }
  std::string operator()(const Label& label) const { return label.mark + one_line(label.name); }
  // An exact zero is told apart from a small time.
  std::string operator()(Nanoseconds t) const {
    return t.value == 0 ? "0.   " : fmt::format("{:.3f}", seconds(t));
  }
  std::string operator()(Percent p) const {
    return p.value == 0 ? "0.  " : fmt::format("{:.2f}", p.value);
  }
  std::string operator()(Address a) const { return fmt::format("{:#010x}", a.value); }
  std::string operator()(Empty) const { return ""; }
};

std::string_view color_of(const Cell& cell) {
  if (const auto* percent = std::get_if<Percent>(&cell))
    return percent->value >= kHotPercent ? kHot : percent->value >= kWarmPercent ? kWarm : "";
  const auto* label = std::get_if<Label>(&cell);
  return label && label->is_strong ? kStrong : "";
}

// What text shows of a column.
struct Strip {
  bool left = false;
  std::size_t width = 0;
  std::vector<std::string> title;
  std::vector<std::string> cells;
  std::vector<std::string_view> colors;
};

// At most `room` columns, but names keep some in a tree that is deep.
std::string cell_text(const Cell& cell, std::size_t room) {
  constexpr std::size_t kLeast = 20;
  if (std::holds_alternative<std::string>(cell))
    return shortened(one_line(std::get<std::string>(cell)), std::max(room, kLeast));
  if (const auto* label = std::get_if<Label>(&cell)) {
    const std::size_t mark = std::min(room, width_of(label->mark));
    return label->mark + shortened(one_line(label->name), std::max(room - mark, kLeast));
  }
  return std::visit(CellText{}, cell);
}

// The strip that is cut to the width of the terminal comes last: how much room it has is known once
// the widths of the others are.
Result<std::vector<Strip>> strips_of(const Table& table, std::size_t width,
                                     const Interrupt& interrupt) {
  std::vector<Strip> strips;
  std::vector<std::size_t> columns;
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    if (!table.columns[c].in_text) continue;
    columns.push_back(c);
    strips.push_back({table.columns[c].type == Type::text, 0, table.columns[c].title, {}, {}});
  }
  const bool is_cut = width != 0 && !strips.empty() && strips.back().left &&
                      columns.back() + 1 == table.columns.size();
  std::vector<Cell> uncut;
  constexpr std::size_t kWidest = 256;  // one name that is longer does not widen every row
  std::uint64_t number = 0;
  auto done = table.each_row([&](const Row& row) -> Result<void> {
    if (interrupt.asked(number++)) return interrupted();
    for (std::size_t s = 0; s < strips.size(); ++s) {
      const Cell& cell = row[columns[s]];
      strips[s].colors.push_back(color_of(cell));
      if (is_cut && s + 1 == strips.size())
        uncut.push_back(cell);
      else
        strips[s].cells.push_back(std::visit(CellText{}, cell));
    }
    return {};
  });
  if (!done) return tl::unexpected(done.error());
  std::size_t used = 0;
  for (std::size_t s = 0; s < strips.size(); ++s) {
    Strip& strip = strips[s];
    const std::size_t room = width - std::min(width - 1, used);
    if (is_cut && s + 1 == strips.size())
      for (const Cell& cell : uncut) strip.cells.push_back(cell_text(cell, room));
    for (const std::string& line : strip.title) strip.width = std::max(strip.width, width_of(line));
    for (const std::string& cell : strip.cells)
      strip.width = std::max(strip.width, std::min(width_of(cell), kWidest));
    used += strip.width + 2;
  }
  return strips;
}

std::string painted(const std::string& text, std::string_view color, bool has_color) {
  return has_color && !color.empty() ? fmt::format("{}{}{}", color, text, kPlain) : text;
}

struct Piece {
  std::string text;
  std::string_view color = {};
};

// piece(strip): what that strip has in this line.
template <typename PieceOf>
void append_line(std::string& out, const std::vector<Strip>& strips, bool has_color,
                 PieceOf piece_of) {
  std::string line;
  for (std::size_t s = 0; s < strips.size(); ++s) {
    const Piece piece = piece_of(strips[s]);
    const std::size_t width = width_of(piece.text);
    const std::string pad(strips[s].width - std::min(strips[s].width, width), ' ');
    const std::string text = painted(piece.text, piece.color, has_color);
    line += (s == 0 ? "" : "  ") + (strips[s].left ? text + pad : pad + text);
  }
  line.erase(line.find_last_not_of(' ') + 1);
  out += line + "\n";
}

}  // namespace

Result<std::string> to_text(const Table& table, const TextStyle& style,
                            const Interrupt& interrupt) {
  std::string out;
  std::istringstream title(table.title);
  for (std::string line; std::getline(title, line);)
    out += painted(one_line(line), kStrong, style.has_color) + "\n";
  for (const std::string& note : table.notes)
    out += painted("Note:", kWarning, style.has_color) + " " + one_line(note) + "\n";
  if (!out.empty()) out += "\n";
  const auto strips = strips_of(table, style.width, interrupt);
  if (!strips) return tl::unexpected(strips.error());
  std::size_t header_lines = 0;
  for (const Strip& strip : *strips) header_lines = std::max(header_lines, strip.title.size());
  for (std::size_t h = 0; h < header_lines; ++h)
    append_line(out, *strips, style.has_color, [&](const Strip& s) {
      return Piece{h < s.title.size() ? s.title[h] : std::string()};
    });
  auto group = table.groups.begin();
  const std::size_t rows = strips->empty() ? 0 : strips->front().cells.size();
  for (std::size_t row = 0; row < rows; ++row) {
    if (interrupt.asked(row)) return interrupted();
    if (group != table.groups.end() && *group == row) {
      out += "\n";
      ++group;
    }
    append_line(out, *strips, style.has_color, [&](const Strip& s) {
      return Piece{s.cells[row], s.colors[row]};
    });
  }
  if (const std::string note = left_out_note(table); !note.empty()) out += "\n" + note + "\n";
  return out;
}

}  // namespace gnomon::reader
