// A table as text. Any thread.
#include <fmt/format.h>

#include <algorithm>

#include "reader/table/table.h"

namespace gnomon::reader {
namespace {

struct CellText {
  std::string operator()(const std::string& text) const { return text; }
  std::string operator()(std::uint64_t count) const { return std::to_string(count); }
  std::string operator()(const Label& label) const { return label.mark + label.name; }
  // An exact zero is told apart from a small time.
  std::string operator()(Nanoseconds t) const {
    return t.value == 0 ? "0.   " : fmt::format("{:.3f}", seconds(t));
  }
  std::string operator()(Percent p) const {
    return p.value == 0 ? "0.  " : fmt::format("{:.2f}", p.value);
  }
};

bool is_text(const Cell& cell) {
  return std::holds_alternative<std::string>(cell) || std::holds_alternative<Label>(cell);
}

std::size_t width_of(const std::string& utf8) {
  return static_cast<std::size_t>(
      std::count_if(utf8.begin(), utf8.end(), [](char c) { return (c & 0xc0) != 0x80; }));
}

// What text shows of a column.
struct Strip {
  bool left = false;
  std::size_t width = 0;
  std::vector<std::string> title;
  std::vector<std::string> cells;
};

std::vector<Strip> strips_of(const Table& table) {
  std::vector<Strip> strips;
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    if (!table.columns[c].in_text) continue;
    Strip& strip = strips.emplace_back();
    strip.left = !table.rows.empty() && is_text(table.rows.front()[c]);
    strip.title = table.columns[c].title;
    for (const auto& row : table.rows) strip.cells.push_back(std::visit(CellText{}, row[c]));
    for (const std::string& line : strip.title) strip.width = std::max(strip.width, width_of(line));
    for (const std::string& cell : strip.cells) strip.width = std::max(strip.width, width_of(cell));
  }
  return strips;
}

// cell(strip): the text of that strip in this line.
template <typename CellOf>
void append_line(std::string& out, const std::vector<Strip>& strips, CellOf cell) {
  std::string line;
  for (std::size_t s = 0; s < strips.size(); ++s) {
    const std::string text = cell(strips[s]);
    const std::string pad(strips[s].width - std::min(strips[s].width, width_of(text)), ' ');
    line += (s == 0 ? "" : "  ") + (strips[s].left ? text + pad : pad + text);
  }
  line.erase(line.find_last_not_of(' ') + 1);
  out += line + "\n";
}

}  // namespace

std::string to_text(const Table& table) {
  std::string out;
  if (!table.title.empty()) out += table.title + "\n";
  for (const std::string& note : table.notes) out += "Note: " + note + "\n";
  if (!out.empty()) out += "\n";
  const std::vector<Strip> strips = strips_of(table);
  std::size_t header_lines = 0;
  for (const Strip& strip : strips) header_lines = std::max(header_lines, strip.title.size());
  for (std::size_t h = 0; h < header_lines; ++h)
    append_line(out, strips,
                [&](const Strip& s) { return h < s.title.size() ? s.title[h] : std::string(); });
  auto group = table.groups.begin();
  for (std::size_t row = 0; row < table.rows.size(); ++row) {
    if (group != table.groups.end() && *group == row) {
      out += "\n";
      ++group;
    }
    append_line(out, strips, [&](const Strip& s) { return s.cells[row]; });
  }
  if (table.left_out.count != 0)
    out += fmt::format("\n{} more {}; --limit 0 shows all.\n", table.left_out.count,
                       table.left_out.what);
  return out;
}

}  // namespace gnomon::reader
