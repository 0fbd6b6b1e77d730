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

// At most `room` columns of a name, but names keep some in a tree that is deep; room 0: any number.
std::string fitting(const std::string& name, std::size_t room) {
  constexpr std::size_t kLeast = 20;
  const std::string text = one_line(name);
  return room == 0 ? text : shortened(text, std::max(room, kLeast));
}

struct CellText {
  std::size_t room = 0;

  std::string operator()(const std::string& text) const { return fitting(text, room); }
  std::string operator()(std::uint64_t count) const { return std::to_string(count); }
  std::string operator()(const Label& label) const {
    const std::size_t mark = std::min(room, width_of(label.mark));
    return label.mark + fitting(label.name, room == 0 ? 0 : std::max<std::size_t>(room - mark, 1));
  }
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
  std::size_t column = 0;
  bool left = false;
  std::size_t width = 0;
  std::size_t room = 0;  // that its names are cut to; 0: they are not
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
      const std::size_t wide = width_of(std::visit(CellText{}, row[strips[s].column]));
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

std::string painted(const std::string& text, std::string_view color, bool has_color) {
  return has_color && !color.empty() ? fmt::format("{}{}{}", color, text, kPlain) : text;
}

struct Piece {
  std::string text;
  std::string_view color = {};
};

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
  std::string head;
  std::istringstream title(table.title);
  for (std::string line; std::getline(title, line);)
    head += painted(one_line(line), kStrong, has_color) + "\n";
  for (const std::string& note : table.notes)
    head += painted("Note:", kWarning, has_color) + " " + one_line(note) + "\n";
  if (!head.empty()) head += "\n";
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

}  // namespace

Result<void> print_text(const Table& table, const TextStyle& style, const Interrupt& interrupt,
                        const Put& put) {
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
    lines += line_of(*strips, style.has_color, [&](const Strip& strip) {
      const Cell& cell = row[strip.column];
      return Piece{std::visit(CellText{strip.room}, cell), color_of(cell)};
    });
    return put(lines);
  });
  if (!done) return done;
  const std::string note = left_out_note(table);
  return note.empty() ? Result<void>() : put("\n" + note + "\n");
}

}  // namespace gnomon::reader
