// A table as CSV. Any thread.
#include <fmt/format.h>

#include "reader/base/one_line.h"
#include "reader/table/table.h"

namespace gnomon::reader {
namespace {

std::string quoted_cell(const std::string& cell, char delimiter) {
  std::string text = one_line(cell);
  if (text.find_first_of({delimiter, '"'}) == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? "\"\"" : std::string(1, c);
  return out + "\"";
}

struct CellCsv {
  char delimiter;
  std::string quoted(const std::string& text) const { return quoted_cell(text, delimiter); }
  std::string operator()(const std::string& text) const { return quoted(text); }
  std::string operator()(std::uint64_t count) const { return std::to_string(count); }
  std::string operator()(Nanoseconds t) const {
    return fmt::format("{}.{:09}", t.value / 1'000'000'000, t.value % 1'000'000'000);
  }
  std::string operator()(ShortTime t) const { return (*this)(t.value); }
  std::string operator()(const Label& label) const { return quoted(label.name); }
  std::string operator()(const Phrase& phrase) const { return quoted(phrase.text()); }
  std::string operator()(const Code& code) const { return quoted(code.text); }
  std::string operator()(Percent p) const { return fmt::format("{:.2f}", p.value); }
  std::string operator()(Address a) const { return fmt::format("{:#x}", a.value); }
  std::string operator()(Difference d) const {
    return d.is_time ? fmt::format("{:.9f}", static_cast<double>(d.value) / 1e9)
                     : std::to_string(d.value);
  }
  std::string operator()(Ratio r) const { return fmt::format("{:.4f}", r.value); }
  std::string operator()(Empty) const { return ""; }
};

}  // namespace

Result<void> print_csv(const Table& table, const Interrupt& interrupt, const Put& put,
                       char delimiter) {
  const CellCsv csv{delimiter};
  std::string line;
  const auto add = [&](std::size_t column, const std::string& cell) {
    if (column != 0) line += delimiter;
    line += cell;
  };
  for (std::size_t c = 0; c < table.columns.size(); ++c) add(c, csv.quoted(table.columns[c].id));
  if (auto done = put(line + "\r\n"); !done) return done;
  std::uint64_t number = 0;
  return table.each_row([&](const Row& row) -> Result<void> {
    if (interrupt.asked(number++)) return interrupted();
    line.clear();
    for (std::size_t c = 0; c < row.size(); ++c) add(c, std::visit(csv, row[c]));
    return put(line += "\r\n");
  });
}

}  // namespace gnomon::reader
