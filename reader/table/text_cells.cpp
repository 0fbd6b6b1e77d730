// The cells of a table as text. Any thread.
#include "reader/table/text_cells.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "reader/base/one_line.h"
#include "reader/table/shorten.h"

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

// Tabs reach to the next multiple of 8. At most `room` columns; room 0: any number.
std::string code_text(const std::string& code, std::size_t room) {
  constexpr std::size_t kTab = 8;
  std::string blanks;
  for (const char c : code)
    if (c == '\t')
      blanks.append(kTab - blanks.size() % kTab, ' ');
    else
      blanks += c;
  std::string text = one_line(blanks);
  if (room == 0 || width_of(text) <= room) return text;
  std::size_t end = 0;
  for (std::size_t column = 0; column < room && end < text.size(); ++column)
    end += character_at(text, end).bytes;
  return text.substr(0, end);
}

struct CellText {
  std::size_t room = 0;

  std::string operator()(const std::string& text) const { return fitting(text, room); }
  std::string operator()(std::uint64_t count) const { return std::to_string(count); }
  std::string operator()(const Label& label) const {
    const std::size_t mark = std::min(room, width_of(label.mark));
    return label.mark + fitting(label.name, room == 0 ? 0 : std::max<std::size_t>(room - mark, 1));
  }
  std::string operator()(const Phrase& phrase) const {
    const std::size_t around = width_of(phrase.before) + width_of(phrase.after);
    const std::size_t left =
        room == 0 ? 0 : std::max<std::size_t>(room - std::min(room, around), 1);
    return one_line(phrase.before) + fitting(phrase.name, left) + one_line(phrase.after);
  }
  std::string operator()(const Code& code) const {
    return code.place + code_text(code.text, room - std::min(room, code.place.size()));
  }
  // An exact zero is told apart from a small time.
  std::string operator()(Nanoseconds t) const {
    return t.value == 0 ? "0.   " : fmt::format("{:.3f}", seconds(t));
  }
  std::string operator()(ShortTime t) const {
    return t.value.value == 0 ? "0.   " : fmt::format("{:.3f}", seconds(t.value) * 1e3);
  }
  std::string operator()(Percent p) const {
    return p.value == 0 ? "0.  " : fmt::format("{:.2f}", p.value);
  }
  std::string operator()(Address a) const { return fmt::format("{:#010x}", a.value); }
  std::string operator()(Difference d) const {
    if (!d.is_time) return d.value == 0 ? "0" : fmt::format("{:+}", d.value);
    return d.value == 0 ? "0.   " : fmt::format("{:+.3f}", static_cast<double>(d.value) / 1e9);
  }
  std::string operator()(Ratio r) const { return fmt::format("x {:.2f}", r.value); }
  std::string operator()(Empty) const { return ""; }
};

}  // namespace

std::string cell_text(const Cell& cell, std::size_t room) {
  return std::visit(CellText{room}, cell);
}

std::string_view color_of(const Cell& cell) {
  if (const auto* percent = std::get_if<Percent>(&cell))
    return percent->value >= kHotPercent ? kHot : percent->value >= kWarmPercent ? kWarm : "";
  const auto* label = std::get_if<Label>(&cell);
  return label && label->is_strong ? kStrong : "";
}

std::string painted(const std::string& text, std::string_view color, bool has_color) {
  return has_color && !color.empty() ? fmt::format("{}{}{}", color, text, kPlain) : text;
}

std::string above_rows(const Table& table, bool has_color) {
  std::string head;
  std::istringstream title(table.title);
  for (std::string line; std::getline(title, line);)
    head += painted(one_line(line), kStrong, has_color) + "\n";
  for (const std::string& note : table.notes)
    head += painted("Note:", kWarning, has_color) + " " + one_line(note) + "\n";
  if (!head.empty()) head += "\n";
  return head;
}

}  // namespace gnomon::reader
