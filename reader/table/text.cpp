// A table as text. Any thread.
#include <fmt/format.h>

#include <algorithm>

#include "reader/table/table.h"

namespace gnomon::reader {
namespace {

struct CellText {
  std::string operator()(const std::string& text) const { return text; }
  std::string operator()(std::uint64_t count) const { return std::to_string(count); }
  // An exact zero is told apart from a small time.
  std::string operator()(Nanoseconds t) const {
    return t.value == 0 ? "0.   " : fmt::format("{:.3f}", seconds(t));
  }
  std::string operator()(Percent p) const {
    return p.value == 0 ? "0.  " : fmt::format("{:.2f}", p.value);
  }
};

bool is_text(const Table& table, std::size_t column) {
  return !table.rows.empty() && std::holds_alternative<std::string>(table.rows.front()[column]);
}

std::size_t width_of(const std::string& utf8) {
  return static_cast<std::size_t>(
      std::count_if(utf8.begin(), utf8.end(), [](char c) { return (c & 0xc0) != 0x80; }));
}

void append_cell(std::string& line, const std::string& text, std::size_t width, bool left) {
  const std::string pad(width - std::min(width, width_of(text)), ' ');
  if (!line.empty()) line += "  ";
  line += left ? text + pad : pad + text;
}

void append_line(std::string& out, std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  out += line + "\n";
}

}  // namespace

std::string to_text(const Table& table) {
  std::size_t header_lines = 0;
  std::vector<std::size_t> widths;
  std::vector<std::vector<std::string>> cells;
  for (const auto& row : table.rows) {
    auto& texts = cells.emplace_back();
    for (const Cell& cell : row) texts.push_back(std::visit(CellText{}, cell));
  }
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    std::size_t width = 0;
    for (const std::string& line : table.columns[c].title) width = std::max(width, width_of(line));
    for (const auto& row : cells) width = std::max(width, width_of(row[c]));
    widths.push_back(width);
    header_lines = std::max(header_lines, table.columns[c].title.size());
  }

  std::string out;
  if (!table.title.empty()) out += table.title + "\n";
  for (const std::string& note : table.notes) out += "Note: " + note + "\n";
  if (!out.empty()) out += "\n";
  for (std::size_t h = 0; h < header_lines; ++h) {
    std::string line;
    for (std::size_t c = 0; c < table.columns.size(); ++c) {
      const auto& title = table.columns[c].title;
      append_cell(line, h < title.size() ? title[h] : "", widths[c], is_text(table, c));
    }
    append_line(out, line);
  }
  for (const auto& row : cells) {
    std::string line;
    for (std::size_t c = 0; c < row.size(); ++c)
      append_cell(line, row[c], widths[c], is_text(table, c));
    append_line(out, line);
  }
  return out;
}

}  // namespace gnomon::reader
